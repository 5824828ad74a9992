import { createSharedValue } from '../parts/shared-value.ts'

const said = createSharedValue('')

/** Announces a change to screen reader users. Only for changes that matter: never for each second or each row. */
export function announce(sentence: string): void {
  // Makes a repeated text announced again.
  said.set(said.get() === sentence ? `${sentence}\u00a0` : sentence)
}

/** The only live region, present and empty from the start. */
export function Announcer() {
  return (
    <div role="status" aria-live="polite" aria-atomic="true" className="unseen">
      {said.use()}
    </div>
  )
}
