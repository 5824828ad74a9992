/** Holdings up to this size never wait and are not counted: they are many, and nothing next to the others. */
const SMALL_BYTES = 64 * 2 ** 10

/** Memory that one holder has or expects to have. */
export interface Holding {
  /** Says how much it is in truth; who holds already never waits. */
  resize(bytes: number): void
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

  function hold(bytes: number): Holding {
    let mine = counted(bytes)
    held += mine
    const change = (next: number) => {
      held += counted(next) - mine
      mine = counted(next)
      admit()
    }
    return { resize: change, leave: () => change(0) }
  }

  function admit(): void {
    for (let next = waiting[0]; next !== undefined && fits(next.bytes); next = waiting[0]) {
      waiting.shift()
      next.enter()
    }
  }

  const fits = (bytes: number) => held === 0 || held + bytes <= max
  return {
    enter(bytes) {
      if (counted(bytes) === 0 || (waiting.length === 0 && fits(bytes))) return Promise.resolve(hold(bytes))
      return new Promise((resolve) => waiting.push({ bytes, enter: () => resolve(hold(bytes)) }))
    },
  }
}

const counted = (bytes: number): number => (bytes <= SMALL_BYTES ? 0 : bytes)
