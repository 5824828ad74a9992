import { z } from 'zod'

/** `GET /v6/latest/USD` of open.er-api.com: a daily table, times are Unix seconds; numbers are bare in the format. */
export const openErApiAnswer = z.object({
  result: z.literal('success'),
  base_code: z.literal('USD'),
  time_last_update_unix: z.string(),
  rates: z.record(z.string(), z.unknown()),
})
