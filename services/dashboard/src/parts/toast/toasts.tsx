import '@mantine/notifications/styles.css'
import { Notifications, notifications } from '@mantine/notifications'

export { notifications }

/** The sentences in the corner of the page; `toast.tsx` loads them when there is one. */
export function Toasts() {
  return <Notifications position="bottom-right" />
}
