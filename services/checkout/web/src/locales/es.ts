import type { Messages } from './en.ts'
import { outcome } from './es/outcome.ts'
import { pages } from './es/pages.ts'
import { paying } from './es/paying.ts'

/** Spanish for readers from Mexico to Argentina: tú, no exclamation marks; an invoice is a "cobro", as "factura" is a tax document. */
export const es: Messages = { ...paying, ...outcome, ...pages }
