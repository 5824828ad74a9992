import type { PaymentState } from '#shared/domain/enumerations.ts'

/** The parts of the key of an internal transfer, as stored with payments. */
interface CallMove {
  readonly toAddress: string
  readonly fromAddress: string | null
  readonly amountBase: bigint
}

/** The fields of a stored payment that determine its position among equal transfers. */
interface StoredMove extends CallMove {
  readonly key: string
  readonly currentKey?: string
  readonly state: PaymentState
}

/**
 * `<mode>:<network>:<txid>:x<n>`, n = position among all internal records of a node. Nodes record different ones, so one
 * transfer had several such keys. A second amount under one key has it at its end.
 */
const FORMER_KEY = /^(.+):x(\d+)(?::\d+)?$/
const CURRENT_KEY = /^(.+):(\d+)$/
const STATE_ORDER: readonly PaymentState[] = ['confirmed', 'detected']

/**
 * Prefix of the keys of equal transfers of one transaction: `<mode>:<network>:<txid>:i:<payer>:<payee>:<base units>`.
 * The key itself ends with the transfer's number among these, from 0 in order of execution. Every node that records internal
 * transfers gives the same one, whatever else it records. An unknown payer is `-`.
 */
export function callMoveStem(transaction: string, { fromAddress, toAddress, amountBase }: CallMove): string {
  return `${transaction}:i:${fromAddress ?? '-'}:${toAddress}:${amountBase}`
}

/** Whether a payment is stored under a key of the former form. Its identity is `currentKey`, once that is known. */
export function hasFormerKey({ key }: Pick<StoredMove, 'key'>): boolean {
  return FORMER_KEY.test(key)
}

/**
 * The current key of each of these payments that has a former one, by stored key. `rows` are all payments stored of one
 * transaction. An assigned position stays; the others take the free numbers in order, live payments first.
 */
export function placeFormerKeys(rows: readonly StoredMove[]): ReadonlyMap<string, string> {
  const taken = new Set(rows.flatMap(({ key, currentKey }) => currentKey ?? (FORMER_KEY.test(key) ? [] : [key])))
  const places = new Map<string, string>()
  for (const row of rows.filter(hasFormerKey).toSorted(byPlace)) {
    const transaction = FORMER_KEY.exec(row.key)?.[1]
    if (transaction === undefined) continue
    const place = row.currentKey ?? firstFree(callMoveStem(transaction, row), taken)
    taken.add(place)
    places.set(row.key, place)
  }
  return places
}

/** The stem of a current key. Null for a key that does not end with a number. */
export function stemOf(currentKey: string): string | null {
  return CURRENT_KEY.exec(currentKey)?.[1] ?? null
}

function firstFree(stem: string, taken: ReadonlySet<string>): string {
  let ordinal = 0
  while (taken.has(`${stem}:${ordinal}`)) ordinal += 1
  return `${stem}:${ordinal}`
}

function byPlace(one: StoredMove, other: StoredMove): number {
  const byState = rank(one) - rank(other)
  if (byState !== 0) return byState
  const [first, second] = [indexOf(one), indexOf(other)]
  if (first === second) return 0
  return first < second ? -1 : 1
}

function rank({ state }: StoredMove): number {
  const at = STATE_ORDER.indexOf(state)
  return at < 0 ? STATE_ORDER.length : at
}

/** The position in a former key. */
function indexOf({ key }: StoredMove): bigint {
  return BigInt(FORMER_KEY.exec(key)?.[2] ?? 0)
}
