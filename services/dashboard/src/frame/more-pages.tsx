import { IconDots } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { Modal } from '../parts/modal.tsx'

const SHEET = { inner: 'pm-sheet', content: 'pm-sheet-content' }

/** The last button of a phone's bar: all pages, in a sheet that closes when one of them is opened. */
export function MorePages({ children }: { readonly children: ReactNode }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" className="pm-nav-link" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <IconDots size={17} aria-hidden />
        <span>More</span>
      </button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title="All pages" classNames={SHEET}>
        {/* The links in it work with keys; a click on any of them closes the sheet. */}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: it listens for clicks of the links in it */}
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: a link that is opened by a key is clicked, too */}
        <div
          className="pm-all-pages"
          onClick={({ target }) => target instanceof Element && target.closest('a') !== null && setOpen(false)}
        >
          {children}
        </div>
      </Modal>
    </>
  )
}
