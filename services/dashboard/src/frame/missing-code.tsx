import { Button } from '@mantine/core'
import { createSharedValue } from '../parts/shared-value.ts'

const isMissing = createSharedValue(false)

/**
 * Notices code that cannot be loaded: an upgrade replaced its files while this page was open, or the network failed. Vite raises the
 * event for every import at run time (https://vite.dev/guide/build#load-error-handling). Call it once, before anything is rendered.
 */
export function watchMissingCode(): void {
  window.addEventListener('vite:preloadError', () => isMissing.set(true))
}

/** A sentence and a button above the page, from the first part that could not be loaded. It hides nothing of what was typed. */
export function MissingCodeNote() {
  if (!isMissing.use()) return null
  return (
    <div className="pm-offline" role="alert">
      A part of this page could not be loaded. Paymesh may have just been updated.
      <Button size="compact-xs" variant="default" onClick={() => window.location.reload()}>
        Reload
      </Button>
    </div>
  )
}
