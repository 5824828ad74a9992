import type { ModalProps } from '@mantine/core'
import { useLoaded } from '../use-loaded.ts'

/** Mantine's dialog, whose code is requested when one is opened for the first time; one that cannot be loaded is closed. */
export function Modal(props: ModalProps) {
  const Loaded = useLoaded(props.opened, async () => (await import('./loaded-modal.tsx')).Modal, props.onClose)
  return Loaded === null ? null : <Loaded {...props} />
}
