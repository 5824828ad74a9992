/** Holdings up to this size never wait and are not counted: they are many, and nothing next to the others. */
const SMALL_BYTES = 64 * 2 ** 10

/** Memory that one holder has or expects to have. */
export interface Holding {
  /** True while it is so little that it does not count. */
  readonly isSmall: boolean
  /** Says how much it is in truth, without waiting. */
  resize(bytes: number): void
  /** Gives it back and waits for `bytes` like anybody who enters: for a holder that has hardly begun. */
  reenter(bytes: number): Promise<void>
  /** Gives it back; a second call changes nothing. */
  leave(): void
}

/** Keeps what is held at one time below a bound. */
export interface ByteGate {
  /**
   * Resolves, in the order of the calls, when `bytes` fit below the bound beside what the others hold, or nobody else holds
   * anything: what is larger than the bound is held alone. 64 KB and less never wait and do not count.
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

/** What so many bytes count. */
const counted = (bytes: number): number => (bytes <= SMALL_BYTES ? 0 : bytes)
