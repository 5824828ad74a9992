import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import timersPromises from 'node:timers/promises'
import type { Scheduler } from './scheduler.ts'

const real = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  setImmediate: globalThis.setImmediate,
  clearImmediate: globalThis.clearImmediate,
  dateNow: Date.now,
  performanceNow: performance.now.bind(performance),
  mathRandom: Math.random,
  randomUUID: crypto.randomUUID,
  randomBytes: crypto.randomBytes,
  promisedTimeout: timersPromises.setTimeout,
}

/** Resolves when every microtask that exists now, and those they make, have run. */
export function drainMicrotasks(): Promise<void> {
  return new Promise((resolve) => real.setImmediate(resolve))
}

/** Real milliseconds, for measuring the simulation itself. */
export const realNow = (): number => real.performanceNow()

/** True while {@link takeOverGlobals} holds: the code that runs is being simulated. */
interface VirtualTimer {
  ref(): VirtualTimer
  unref(): VirtualTimer
  hasRef(): boolean
  refresh(): VirtualTimer
  cancel: () => void
}

/**
 * Puts virtual time behind the timers and clocks of the language, as the running process sees them, and lets every other
 * source of randomness throw. Returns what gives the real ones back.
 */
export function takeOverGlobals(scheduler: Scheduler): () => void {
  const owner = () => {
    const { current } = scheduler
    if (current === null) throw new Error('a timer or clock of the language is used outside every simulated process')
    return current
  }
  const timer = (name: string, delayMs: number, run: () => void, repeat: boolean): VirtualTimer => {
    const process = owner()
    let active = true
    let disarm = (): void => undefined
    const arm = (): void => {
      disarm = scheduler.at(delayMs, 'timer', process, name, fire)
    }
    // What waits in a stopped process may be cancelled before it comes to it.
    const fire = (): void => {
      if (!active) return
      if (repeat) arm()
      else active = false
      run()
    }
    const handle: VirtualTimer = {
      ref: () => handle,
      unref: () => handle,
      hasRef: () => true,
      refresh: () => handle,
      cancel: () => {
        active = false
        disarm()
      },
    }
    arm()
    return handle
  }
  const cancel = (handle: VirtualTimer | undefined | null) => handle?.cancel()
  const wall = () => {
    const { current } = scheduler
    return Math.floor(scheduler.now + (current?.machine.skewMs ?? 0))
  }
  type Args = readonly unknown[]
  type Callback = (...args: Args) => void
  const fakes = {
    setTimeout: (run: Callback, delayMs = 0, ...args: Args) =>
      timer('timeout', Math.max(1, delayMs), () => run(...args), false),
    clearTimeout: cancel,
    setInterval: (run: Callback, delayMs = 0, ...args: Args) =>
      timer('interval', Math.max(1, delayMs), () => run(...args), true),
    clearInterval: cancel,
    setImmediate: (run: Callback, ...args: Args) => {
      const stop = scheduler.at(0, 'work', owner(), 'immediate', () => run(...args))
      return { cancel: stop }
    },
    clearImmediate: cancel,
  }
  const trap = (name: string) => () => {
    throw new Error(`${name} is used in a simulation: everything random comes from the Random port`)
  }
  Object.assign(globalThis, fakes)
  Date.now = wall
  performance.now = () => scheduler.now - (scheduler.current?.bootAt ?? scheduler.now)
  Math.random = trap('Math.random')
  Object.assign(crypto, { randomUUID: trap('crypto.randomUUID'), randomBytes: trap('crypto.randomBytes') })
  Object.assign(timersPromises, { setTimeout: trap('timers/promises') })
  syncBuiltinESMExports()
  return () => {
    const { dateNow, performanceNow, mathRandom, randomUUID, randomBytes, promisedTimeout, ...timers } = real
    Object.assign(globalThis, timers)
    Date.now = dateNow
    performance.now = performanceNow
    Math.random = mathRandom
    Object.assign(crypto, { randomUUID, randomBytes })
    Object.assign(timersPromises, { setTimeout: promisedTimeout })
    syncBuiltinESMExports()
  }
}
