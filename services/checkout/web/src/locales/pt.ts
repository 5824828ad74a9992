import type { Messages } from './en.ts'
import { outcome } from './pt/outcome.ts'
import { pages } from './pt/pages.ts'
import { paying } from './pt/paying.ts'

/** Portuguese of Brazil: você, no exclamation marks. */
export const pt: Messages = { ...paying, ...outcome, ...pages }
