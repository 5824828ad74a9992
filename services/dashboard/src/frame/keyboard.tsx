import { useEffect, useState } from 'react'
import { useNavigate } from 'react-router'
import { useLoaded } from '../parts/use-loaded.ts'
import { placePath } from '../session/scope.ts'
import { announce } from './announcer.tsx'
import { ENTRY_GROUPS } from './entries.ts'
import { openSearch } from './open-search.ts'
import { keysAreOn } from './shortcut.ts'
import type { NavigationTarget } from './target.ts'

/** Time limit for the second key after G. */
const CHORD_MS = 1_500

/** Keys of every page. Single keys act only outside fields and never submit anything: they move the focus. */
export function Keyboard({ target }: { readonly target: NavigationTarget | null }) {
  const [listOpen, setListOpen] = useState(false)
  const List = useLoaded(listOpen, async () => (await import('./keys-dialog.tsx')).KeysDialog)
  const navigate = useNavigate()
  useEffect(() => {
    let chordUntil = 0
    const onKey = (event: KeyboardEvent) => {
      const key = event.key.toLowerCase()
      if (isTyping(event.target)) return
      if (key === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && target !== null) {
        event.preventDefault()
        return openSearch()
      }
      if (event.ctrlKey || event.metaKey || event.altKey || !keysAreOn()) return
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
      if (key === 'a' || key === 'r') return chooseAnswer(key)
      if (key === '/') return focusSearch()
      if (key === '?') setListOpen(true)
      return key === '?'
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [navigate, target])
  return List === null ? null : <List isOpen={listOpen} onClose={() => setListOpen(false)} />
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest('input, textarea, select, [contenteditable], [role="dialog"], [role="menu"]') !== null
  )
}

/** Where a row takes the focus: itself where it is a link, its link, or else the first thing in it that can be used. */
function focusesOfRows(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('main [data-row-id]')].flatMap((row) => {
    if (row.matches('[data-row-link]')) return [row]
    const target =
      row.querySelector<HTMLElement>('[data-row-link]') ?? row.querySelector<HTMLElement>('a[href], button')
    return target === null ? [] : [target]
  })
}

function moveRow(step: 1 | -1): boolean {
  const targets = focusesOfRows()
  const at = targets.findIndex((target) => target.closest('[data-row-id]')?.contains(document.activeElement))
  const next = at === -1 ? (step === 1 ? 0 : targets.length - 1) : at + step
  targets[Math.min(Math.max(next, 0), targets.length - 1)]?.focus()
  return targets.length > 0
}

/**
 * Selects an answer of the open item and moves on to its reason: nothing is sent. Does nothing while the focus is on the row of another
 * item: the person would decide one that they are not looking at.
 */
function chooseAnswer(key: string): boolean {
  const row = document.activeElement?.closest('main [data-row-id]') ?? null
  if (row !== null && row.getAttribute('aria-current') !== 'true') return false
  const answer = document.querySelector<HTMLElement>(`main [data-key="${key}"]`)
  answer?.click()
  if (answer !== null) document.querySelector<HTMLElement>('main [data-after-key]')?.focus()
  return answer !== null
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
  if (field === null) openSearch()
  else field.focus()
  return true
}
