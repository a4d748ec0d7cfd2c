/** What can be done to a tablet in the background, or because an operator asks for it. */

/** Ops that the maintenance manager schedules and operators ask for. */
export const MAINTENANCE_OPS = [
  'FLUSH_MRS',
  'FLUSH_DMS',
  'COMPACT',
  'MINOR_DELTA_COMPACT',
  'MAJOR_DELTA_COMPACT',
  'GC',
] as const
/** A maintenance op. */
export type MaintenanceOp = (typeof MAINTENANCE_OPS)[number]
