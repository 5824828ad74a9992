import { Modal } from '../parts/dialog/loaded-modal.tsx'

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ['Ctrl K or ⌘ K', 'Search everywhere'],
  ['/', 'Search on this page'],
  ['J and K', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['Esc', 'Close the panel and return to the row'],
  ['C', 'Copy the row’s ID'],
  ['A and R', 'Accept or reject the open exception: selects it and moves to the reason'],
  ['G then O, E, I, W, S', 'Overview, Exceptions, Invoices, Webhooks, Settings'],
  ['?', 'Show this list'],
]

/** The list of keys that work on every page. */
export function KeysDialog({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keyboard shortcuts">
      <dl className="pm-keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p className="pm-muted pm-small">You can turn off single-key shortcuts in your user menu.</p>
    </Modal>
  )
}
