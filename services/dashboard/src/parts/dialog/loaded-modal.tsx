import { Modal as LibraryModal, type ModalProps } from '@mantine/core'
import { useEffect, useState } from 'react'

/**
 * Mantine's dialog for code that is loaded when it is first opened; in a separate file, so that no more of the library is requested
 * with it. It is mounted closed and opens at once after that: the library notes where to return the focus only at a change from closed
 * to open (`useFocusReturn` of @mantine/hooks 9).
 */
export function Modal(props: ModalProps) {
  const [isMounted, setMounted] = useState(false)
  useEffect(() => setMounted(true), [])
  return <LibraryModal {...props} opened={props.opened && isMounted} />
}
