import { Modal } from '@mantine/core'
import { spotlight } from '@mantine/spotlight'
import { useEffect, useState } from 'react'
import { useNavigate } from 'react-router'
import { placePath } from '../session/scope.ts'
import { announce } from './announcer.tsx'
import { ENTRY_GROUPS } from './entries.ts'
import { keysAreOn } from './key-switch.ts'
import type { NavigationTarget } from './target.ts'

/** Behind G, the second key has this long. */
const CHORD_MS = 1_500

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ['Ctrl K or ⌘ K', 'Search everything'],
  ['/', 'Search on this page'],
  ['J and K', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['Esc', 'Close what is open, back to the row'],
  ['C', 'Copy the ID of the row'],
  ['G then O, E, I, W, S', 'Overview, Exceptions, Invoices, Webhooks, Settings'],
  ['?', 'This list'],
]

/** Keys of every page. Single keys act only outside fields and never submit anything: they move the focus. */
export function Keyboard({ target }: { readonly target: NavigationTarget | null }) {
  const [listOpen, setListOpen] = useState(false)
  const navigate = useNavigate()
  useEffect(() => {
    let chordUntil = 0
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !keysAreOn() || isTyping(event.target)) return
      const key = event.key.toLowerCase()
      const acted = event.timeStamp < chordUntil ? go(key) : act(key)
      chordUntil = key === 'g' && !acted ? event.timeStamp + CHORD_MS : 0
      if (acted) event.preventDefault()
    }
    const go = (key: string) => {
      const entry = ENTRY_GROUPS.flatMap(({ entries }) => entries).find((candidate) => candidate.key === key)
      if (entry === undefined || target === null) return false
      void navigate(placePath(target.workspaceId, target.mode, entry.page))
      return true
    }
    const act = (key: string) => {
      if (key === 'j') return moveRow(1)
      if (key === 'k') return moveRow(-1)
      if (key === 'c') return copyRow()
      if (key === '/') return focusSearch()
      if (key === '?') setListOpen(true)
      return key === '?'
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [navigate, target])
  return (
    <Modal opened={listOpen} onClose={() => setListOpen(false)} title="Keys">
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
      <p className="pm-muted pm-small">Single keys can be switched off in the menu of your name.</p>
    </Modal>
  )
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('input, textarea, select, [contenteditable], [role="dialog"], [role="menu"]') !== null
  )
}

function rowLinks(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('main [data-row-link]')]
}

function moveRow(step: 1 | -1): boolean {
  const links = rowLinks()
  const at = links.findIndex((link) => link.closest('[data-row-id]')?.contains(document.activeElement))
  const next = at === -1 ? (step === 1 ? 0 : links.length - 1) : at + step
  links[Math.min(Math.max(next, 0), links.length - 1)]?.focus()
  return links.length > 0
}

function copyRow(): boolean {
  const row =
    document.activeElement?.closest('[data-row-id]') ?? document.querySelector('main [data-row-id][aria-current]')
  const id = row?.getAttribute('data-row-id')
  if (id === null || id === undefined) return false
  navigator.clipboard.writeText(id).then(
    () => announce('ID copied'),
    () => announce('The browser did not allow copying.'),
  )
  return true
}

function focusSearch(): boolean {
  const field = document.querySelector<HTMLElement>('main [data-page-search]')
  if (field === null) spotlight.open()
  else field.focus()
  return true
}
