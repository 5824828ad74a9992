import type { WalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import type { Family, Mode } from '#shared/domain/enumerations.ts'

/** Keys of one page: so many that the command costs little beside them. */
const PAGE = 10_000

interface Reader {
  readonly onKey: (matchKey: string) => void
  /** Where its first page began; undefined before that. */
  from?: string | null
  /** Whether it got the last page, so that those before its first one are left. */
  isPastEnd: boolean
  readonly end: (error?: unknown) => void
}

/**
 * One reading serves all callers: one that arrives during it gets the pages from there to the end and then those before: every page
 * that it gets was read after its call. An error of the store ends the call of everyone who waits.
 */
export function createHotReads(
  wallets: Pick<WalletRepository, 'hotWatchKeys'>,
  mode: Mode,
  family: Family,
  size: number = PAGE,
) {
  const readers = new Set<Reader>()
  let isReading = false

  async function read(): Promise<void> {
    isReading = true
    let after: string | null = null
    try {
      while (readers.size > 0) {
        // One that arrives while the page is read may have seen a row stored that the page lacks: its first page is the next.
        const present = [...readers]
        const keys: readonly string[] = await wallets.hotWatchKeys(mode, family, after, size)
        const last: string | null = keys.length < size ? null : (keys.at(-1) ?? null)
        for (const reader of present) pass(reader, after, keys, last)
        after = last
      }
    } catch (error) {
      for (const reader of readers) reader.end(error)
      readers.clear()
    } finally {
      isReading = false
    }
  }

  /** `last`: the key after which the next page begins, null at the end. */
  function pass(reader: Reader, after: string | null, keys: readonly string[], last: string | null): void {
    if (reader.from === undefined) reader.from = after
    for (const key of keys) reader.onKey(key)
    const { from } = reader
    const isDone = reader.isPastEnd ? from !== null && (last === null || last >= from) : last === null && from === null
    if (last === null) reader.isPastEnd = true
    if (!isDone) return
    readers.delete(reader)
    reader.end()
  }

  return {
    /** Passes every address that is in no pack. One that is stored, or packed, during the call may be passed or not; some are passed twice. */
    everyHot: (onKey: (matchKey: string) => void): Promise<void> =>
      new Promise<void>((resolve, reject) => {
        const end = (error?: unknown): void => (error === undefined ? resolve() : reject(error))
        readers.add({ onKey, isPastEnd: false, end })
        if (!isReading) void read()
      }),
  }
}
