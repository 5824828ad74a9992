import { useSyncExternalStore } from 'react'

let text = ''
const listeners = new Set<() => void>()

/** Announces a change to screen reader users. Only for changes that matter: never for each second or each row. */
export function announce(sentence: string): void {
  // Makes a repeated text announced again.
  text = text === sentence ? `${sentence}\u00a0` : sentence
  for (const tell of listeners) tell()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The only live region, present and empty from the start. */
export function Announcer() {
  const said = useSyncExternalStore(subscribe, () => text)
  return (
    <div role="status" aria-live="polite" aria-atomic="true" className="unseen">
      {said}
    </div>
  )
}
