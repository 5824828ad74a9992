import type { NotificationData } from '@mantine/notifications'
import { createSharedValue } from '../shared-value.ts'
import { useLoaded } from '../use-loaded.ts'

const isWanted = createSharedValue(false)

/** Shows a sentence in the corner of the page, with a button that closes it. Its code is requested with the first one. */
export function showToast(toast: Pick<NotificationData, 'color' | 'message' | 'autoClose'>): void {
  isWanted.set(true)
  import('./toasts.tsx').then(
    ({ notifications }) =>
      notifications.show({ ...toast, withCloseButton: true, closeButtonProps: { 'aria-label': 'Close' } }),
    () => {},
  )
}

/** The corner itself; the page renders it once. */
export function ToastCorner() {
  const Toasts = useLoaded(isWanted.use(), async () => (await import('./toasts.tsx')).Toasts)
  return Toasts === null ? null : <Toasts />
}
