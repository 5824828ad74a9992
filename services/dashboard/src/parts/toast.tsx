import type { NotificationData } from '@mantine/notifications'
import { useSyncExternalStore } from 'react'
import { useLoaded } from './use-loaded.ts'

let isWanted = false
const listeners = new Set<() => void>()

/** Shows a sentence in the corner of the page, with a button that closes it. Its code is requested with the first one. */
export function showToast(toast: Pick<NotificationData, 'color' | 'message' | 'autoClose'>): void {
  isWanted = true
  for (const listener of listeners) listener()
  import('./toasts.tsx').then(
    ({ notifications }) =>
      notifications.show({ ...toast, withCloseButton: true, closeButtonProps: { 'aria-label': 'Close' } }),
    () => {},
  )
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The corner itself; the page renders it once. */
export function ToastCorner() {
  const wanted = useSyncExternalStore(subscribe, () => isWanted)
  const Toasts = useLoaded(wanted, async () => (await import('./toasts.tsx')).Toasts)
  return Toasts === null ? null : <Toasts />
}
