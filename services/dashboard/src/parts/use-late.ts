import { useEffect, useState } from 'react'

const LATE_MS = 150

/** Becomes true when `waiting` has lasted 150 ms: earlier, a skeleton would only flicker. */
export function useLate(waiting: boolean): boolean {
  const [late, setLate] = useState(false)
  useEffect(() => {
    if (!waiting) return setLate(false)
    const timer = setTimeout(() => setLate(true), LATE_MS)
    return () => clearTimeout(timer)
  }, [waiting])
  return late && waiting
}
