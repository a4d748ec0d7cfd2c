/** What every error looks like (RFC 9457). */

import { z } from 'zod'
import { STATUS, type StatusCode } from '../common/status.ts'

const CODES = Object.keys(STATUS) as [StatusCode, ...StatusCode[]]

/** A row of a write that was not applied. */
export const rowErrorSchema = z
  .object({
    row_index: z.int().meta({ description: '0-based over the rows of the request' }),
    code: z.enum(CODES),
    message: z.string(),
    column: z.string().optional(),
  })
  .meta({ id: 'RowError' })

/** A problem. */
export const problemSchema = z
  .object({
    type: z.string().meta({ description: 'urn:nyala:error: and the code' }),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string().meta({ description: 'id of the request' }),
    code: z.enum(CODES),
    retryable: z.boolean().meta({ description: 'whether repeating the request can help' }),
    column: z.string().optional(),
    row_index: z.int().optional(),
    line: z.int().optional(),
    limit: z.number().optional(),
    tablet_id: z.string().optional(),
    resource: z.enum(['table', 'range', 'row']).optional(),
    rows_applied: z.int().optional(),
    rows_unknown: z.int().optional().meta({ description: 'rows sent whose fate is not known' }),
    row_errors: z.array(rowErrorSchema).optional(),
  })
  .meta({ id: 'Problem', description: 'why a request failed' })
