import type { ScanDeps } from '#shared/usecases/scanning/scan-session.ts'

/** What happens at the write that a fuse is set to: no write at all, or a write whose outcome nobody learns, or one that waits. */
export type Blow = 'before' | 'after' | 'hold'

/** Every write of a scanner goes through here. */
export interface Fuse {
  /** The dependencies with a fuse in front of every write. */
  readonly deps: ScanDeps
  /** Blows at the nth write from now on. After that nothing of this scanner reaches the stores any more, as after a kill. */
  arm(writes: number, blow: Blow): void
  /** True once it blew. */
  readonly isBlown: boolean
  /** Kills now, whatever it was set to. */
  blow(): void
  /** Lets the write that waits and all later ones through, as of a process that was stopped and goes on. */
  release(): void
}

const WRITES = new Set([
  'recordObservations',
  'confirmThrough',
  'endUnconfirmed',
  'orphanAbove',
  'orphanMissing',
  'openOnce',
  'closeGone',
  'advance',
  'acquireLease',
  'releaseLease',
  'markWatched',
])
/** A process that dies does not die on these only: its lease runs out by itself. */
const UNCOUNTED = new Set(['acquireLease', 'releaseLease', 'markWatched'])

/** Puts a fuse in front of a scanner's writes. */
export function createFuse(deps: ScanDeps): Fuse {
  let left = Number.POSITIVE_INFINITY
  let blow: Blow = 'before'
  let blown = false
  let open = () => {}
  let gate: Promise<void> = Promise.resolve()

  const write = async (name: string, run: () => Promise<unknown>): Promise<unknown> => {
    if (!blown && !UNCOUNTED.has(name)) {
      left -= 1
      if (left <= 0) {
        blown = true
        if (blow === 'after') await run()
      }
    }
    if (blown && blow !== 'hold') throw new Error('killed')
    if (blown) await gate
    return run()
  }
  const fused = <T extends object>(repository: T): T =>
    new Proxy(repository, {
      get(target, name, receiver) {
        const value: unknown = Reflect.get(target, name, receiver)
        if (typeof value !== 'function' || !WRITES.has(String(name))) return value
        return (...input: unknown[]) => write(String(name), () => Reflect.apply(value, target, input))
      },
    })

  return {
    deps: {
      ...deps,
      payments: fused(deps.payments),
      cursors: fused(deps.cursors),
      exceptions: fused(deps.exceptions),
      wallets: fused(deps.wallets),
    },
    arm(writes, how) {
      left = writes
      blow = how
      if (how !== 'hold') return
      gate = new Promise((resolve) => {
        open = resolve
      })
    },
    get isBlown() {
      return blown
    },
    blow() {
      blow = 'before'
      blown = true
      open()
    },
    release: () => open(),
  }
}
