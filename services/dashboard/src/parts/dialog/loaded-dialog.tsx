import type { ComponentType } from 'react'
import { useLoaded } from '../use-loaded.ts'

interface DialogProps {
  readonly open: boolean
  readonly onClose: () => void
}

/** A dialog whose code is requested when it is opened for the first time; one that cannot be loaded is closed. */
export function loadedDialog<P extends DialogProps>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  return (props) => {
    const Dialog = useLoaded(props.open, load, props.onClose)
    return Dialog === null ? null : <Dialog {...props} />
  }
}
