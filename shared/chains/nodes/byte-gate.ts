/** Holdings up to this size never wait and are not counted: they are many, but negligible. */
const SMALL_BYTES = 64 * 2 ** 10

/** Memory that one holder uses or expects to use. */
export interface Holding {
  /** What counts of it: 0 while it is too small to count. */
  readonly bytes: number
  /** Sets the actual size, without waiting. */
  resize(bytes: number): void
  /** The same for one that comes slowly: from now on `giveWay` is called, once, when it is in the way of another holder. */
  resizeSlow(bytes: number, giveWay: () => void): void
  /** Releases it and waits for `bytes` like a new holder: for one that has hardly begun. */
  reenter(bytes: number): Promise<void>
  /** Releases it; a second call changes nothing. */
  leave(): void
}

/** Keeps the total of all holdings below a bound. */
export interface ByteGate {
  /**
   * Resolves, in the order of the calls, when `bytes` fit below the bound next to the other holdings, or there is no other
   * holding: one larger than the bound is held alone. 64 KB and less never wait and do not count.
   */
  enter(bytes: number): Promise<Holding>
}

/** What counts of a holding, and what ends it if it is slow. */
interface Share {
  mine: number
  giveWay: (() => void) | null
}

/** A gate for `max` bytes. */
export function createByteGate(max: number): ByteGate {
  const waiting: { readonly bytes: number; readonly enter: () => void }[] = []
  const slow = new Set<Share>()
  let held = 0

  function change(share: Share, bytes: number): void {
    held += counted(bytes) - share.mine
    share.mine = counted(bytes)
  }

  function queue(share: Share, bytes: number): Promise<void> {
    if (counted(bytes) === 0 || (waiting.length === 0 && fits(bytes))) {
      change(share, bytes)
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      waiting.push({
        bytes,
        enter() {
          change(share, bytes)
          resolve()
        },
      })
      admit()
    })
  }

  function admit(): void {
    for (let next = waiting[0]; next !== undefined && isFreeFor(next.bytes); next = waiting[0]) {
      waiting.shift()
      next.enter()
    }
  }

  /** Whether so many bytes fit, if need be in the place of slow holdings. */
  function isFreeFor(bytes: number): boolean {
    for (const share of slow) {
      if (fits(bytes)) break
      giveWay(share)
    }
    return fits(bytes)
  }

  function giveWay(share: Share): void {
    if (share.mine === 0) return
    slow.delete(share)
    change(share, 0)
    share.giveWay?.()
  }

  const fits = (bytes: number) => held === 0 || held + bytes <= max
  return {
    async enter(bytes) {
      const share: Share = { mine: 0, giveWay: null }
      await queue(share, bytes)
      const resize = (next: number) => {
        change(share, next)
        if (slow.has(share) && held > max && held > share.mine) giveWay(share)
        admit()
      }
      const release = () => {
        slow.delete(share)
        resize(0)
      }
      return {
        get bytes() {
          return share.mine
        },
        resize,
        resizeSlow(next, end) {
          share.giveWay = end
          slow.add(share)
          resize(next)
        },
        reenter(next) {
          release()
          return queue(share, next)
        },
        leave: release,
      }
    },
  }
}

/** Size that is counted for so many bytes. */
const counted = (bytes: number): number => (bytes <= SMALL_BYTES ? 0 : bytes)
