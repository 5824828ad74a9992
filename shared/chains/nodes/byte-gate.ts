/** Holdings up to this size never wait and are not counted: they are many, but negligible. */
const SMALL_BYTES = 64 * 2 ** 10

/** Memory that one holder uses or expects to use. */
export interface Holding {
  /** True while it is too small to count. */
  readonly isSmall: boolean
  /** Sets the actual size, without waiting. */
  resize(bytes: number): void
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

/** A gate for `max` bytes. */
export function createByteGate(max: number): ByteGate {
  const waiting: { readonly bytes: number; readonly enter: () => void }[] = []
  let held = 0

  function change(holding: { mine: number }, bytes: number): void {
    held += counted(bytes) - holding.mine
    holding.mine = counted(bytes)
  }

  function queue(holding: { mine: number }, bytes: number): Promise<void> {
    if (counted(bytes) === 0 || (waiting.length === 0 && fits(bytes))) {
      change(holding, bytes)
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      waiting.push({
        bytes,
        enter() {
          change(holding, bytes)
          resolve()
        },
      })
    })
  }

  function admit(): void {
    for (let next = waiting[0]; next !== undefined && fits(next.bytes); next = waiting[0]) {
      waiting.shift()
      next.enter()
    }
  }

  const fits = (bytes: number) => held === 0 || held + bytes <= max
  return {
    async enter(bytes) {
      const holding = { mine: 0 }
      await queue(holding, bytes)
      const resize = (next: number) => {
        change(holding, next)
        admit()
      }
      return {
        get isSmall() {
          return holding.mine === 0
        },
        resize,
        reenter(next) {
          resize(0)
          return queue(holding, next)
        },
        leave: () => resize(0),
      }
    },
  }
}

/** Size that is counted for so many bytes. */
const counted = (bytes: number): number => (bytes <= SMALL_BYTES ? 0 : bytes)
