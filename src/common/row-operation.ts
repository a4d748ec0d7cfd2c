/** The eight row operations (K§4.1), numbered as they are stored in write blocks. */
export const ROW_OPERATIONS = {
  INSERT: 1,
  UPDATE: 2,
  DELETE: 3,
  UPSERT: 5,
  INSERT_IGNORE: 10,
  UPDATE_IGNORE: 11,
  DELETE_IGNORE: 12,
  UPSERT_IGNORE: 13,
} as const
/** Name of a row operation. */
export type RowOperationName = keyof typeof ROW_OPERATIONS
/** Number of a row operation. */
export type RowOperation = (typeof ROW_OPERATIONS)[RowOperationName]
