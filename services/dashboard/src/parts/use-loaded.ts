import { useEffect, useState } from 'react'

/**
 * Loads code that few visits need when it is wanted for the first time; null before. `onMissing` runs when it cannot be loaded; the
 * frame offers to load the page again (`frame/missing-code.tsx`).
 */
export function useLoaded<T>(isWanted: boolean, load: () => Promise<T>, onMissing?: () => void): T | null {
  const [loaded, setLoaded] = useState<{ readonly code: T } | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: which code it loads never changes
  useEffect(() => {
    if (!isWanted || loaded !== null) return
    load().then(
      (code) => setLoaded({ code }),
      () => onMissing?.(),
    )
  }, [isWanted, loaded])
  return loaded?.code ?? null
}
