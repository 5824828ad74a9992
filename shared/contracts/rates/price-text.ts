import { z } from 'zod'

/** One price of a row, as text; null for anything else, so that a malformed price costs its pair and not the row's name. */
export const priceText = z.string().nullable().catch(null)
