import { outcome } from './en/outcome.ts'
import { pages } from './en/pages.ts'
import { paying } from './en/paying.ts'

/** Every text of the payers' pages. `{m}` merchant, `{c}` coin, `{n}` network, `{a}` amount, `{x}` number, `{t}` time. */
export const en = { ...paying, ...outcome, ...pages } as const

/** The name of a text. */
export type MessageKey = keyof typeof en
/** A language's texts. */
export type Messages = Readonly<Record<MessageKey, string>>
