import type { Refusal } from './invoice-event.ts'
import type { Draft } from './settle.ts'

/** The effect of one event on a folded invoice: nothing (null), a refusal, or a new state with its announcements. */
export type Decision = Draft | { readonly refused: Refusal } | null
