import { Modal } from '../parts/dialog/loaded-modal.tsx'
import { KeyList } from './key-list.tsx'

const KEYS = [
  ['Ctrl K or ⌘ K', 'Search everywhere'],
  ['/', 'Search on this page'],
  ['J and K', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['Esc', 'Close the panel and return to the row'],
  ['C', 'Copy the row’s ID'],
  ['A and R', 'Accept or reject the open exception: selects it and moves to the reason'],
  ['G then O, E, I, W, S', 'Overview, Exceptions, Invoices, Webhooks, Settings'],
  ['?', 'Show this list'],
] as const

/** The list of keys that work on every page. */
export function KeysDialog({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keyboard shortcuts">
      <KeyList keys={KEYS} />
      <p className="pm-muted pm-small">You can turn off single-key shortcuts in your user menu.</p>
    </Modal>
  )
}
