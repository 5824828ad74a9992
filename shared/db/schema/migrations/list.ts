import { RATES_WITHOUT_END } from './0001-rates-without-end.ts'
import { CURRENT_KEYS_OF_CALL_MOVES } from './0002-current-keys-of-call-moves.ts'
import { DIGESTS_OF_PAYMENT_KEYS } from './0003-digests-of-payment-keys.ts'
import type { Migration } from './migration.ts'

/** Every migration since the first release, in their order. */
export const MIGRATIONS: readonly Migration[] = [RATES_WITHOUT_END, CURRENT_KEYS_OF_CALL_MOVES, DIGESTS_OF_PAYMENT_KEYS]

/** The data version that this code creates and works on. */
export const NEWEST_SCHEMA: number = MIGRATIONS.at(-1)?.id ?? 0
