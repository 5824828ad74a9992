import { RpcFailure } from '../../nodes/rpc-failure.ts'

/** Ids read in one turn of the event loop, which serves pages in `paymesh serve`: about two milliseconds. */
const IDS_PER_TURN = 5_000
const ID_LENGTH = 64
const ID = /^[0-9a-f]{64}$/

/** What a node gave for a list of transaction ids; `visitIds` checks them. */
export type IdList = Iterable<unknown>

/**
 * The JSON-RPC response whose result is a list of transaction ids, with the list unread: 300,000 of them are 20 MB of text, which `JSON.parse` blocks
 * the event loop for. Null for any other text.
 */
export function readIdList(text: string): { readonly result: IdList } | null {
  const [from, until] = [text.indexOf('['), text.lastIndexOf(']')]
  if (from < 0 || until < from) return null
  const frame = parsed(`${text.slice(0, from)}[]${text.slice(until + 1)}`)
  if (!isList(frame)) return null
  return { ...frame, result: { [Symbol.iterator]: () => idsBetween(text, from + 1, until) } }
}

/**
 * Calls `visit` for each id, in turns of the event loop. Throws `RpcFailure` at the first that is none. The text of an id is only of use during the
 * call: `ownText` makes one to store.
 */
export async function visitIds(ids: IdList, visit: (id: string) => void): Promise<void> {
  let left = IDS_PER_TURN
  for (const id of ids) {
    if (typeof id !== 'string' || !ID.test(id)) throw noList()
    visit(id)
    left -= 1
    if (left > 0) continue
    left = IDS_PER_TURN
    await nextTurn()
  }
}

/** Resolves in the next turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** A copy of the text: a part of a text keeps the whole of it in memory. */
export function ownText(id: string): string {
  return Buffer.from(id, 'latin1').toString('latin1')
}

function* idsBetween(text: string, from: number, until: number): Generator<string> {
  let at = afterSpace(text, from)
  while (at < until) {
    const id = text.slice(at + 1, at + 1 + ID_LENGTH)
    if (text[at] !== '"' || text[at + 1 + ID_LENGTH] !== '"') throw noList()
    yield id
    at = afterSpace(text, at + ID_LENGTH + 2)
    if (at >= until) return
    if (text[at] !== ',') throw noList()
    at = afterSpace(text, at + 1)
  }
}

const noList = () => new RpcFailure('retry', 'the node gave something other than a list of transaction ids')

function afterSpace(text: string, from: number): number {
  let at = from
  while (text.charCodeAt(at) <= 0x20) at += 1
  return at
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function isList(frame: unknown): frame is { readonly result: readonly unknown[] } {
  return (
    typeof frame === 'object' &&
    frame !== null &&
    'result' in frame &&
    Array.isArray(frame.result) &&
    frame.result.length === 0
  )
}
