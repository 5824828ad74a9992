import { useSyncExternalStore } from 'react'
import { serverTime } from '../first/server-time.ts'

interface Ticker {
  readonly subscribe: (listener: () => void) => () => void
  readonly read: () => number
}

const tickers = new Map<number, Ticker>()

function tickerOf(stepMs: number): Ticker {
  const known = tickers.get(stepMs)
  if (known !== undefined) return known
  const listeners = new Set<() => void>()
  let timer: ReturnType<typeof setInterval> | undefined
  const ticker: Ticker = {
    subscribe: (listener) => {
      listeners.add(listener)
      timer ??= setInterval(() => {
        for (const tell of listeners) tell()
      }, stepMs)
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
    read: () => Math.floor(serverTime() / stepMs) * stepMs,
  }
  tickers.set(stepMs, ticker)
  return ticker
}

/** The server's time in ms, rounded down to `stepMs`; the component renders again when it changes. All users of one step share one timer. */
export function useNow(stepMs: number): number {
  const { subscribe, read } = tickerOf(stepMs)
  return useSyncExternalStore(subscribe, read)
}
