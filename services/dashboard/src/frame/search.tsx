import { useDebouncedValue } from '@mantine/hooks'
import { Spotlight } from '@mantine/spotlight'
import { IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { ForeignText } from '../parts/foreign-text.tsx'
import { mayDo } from '../session/roles.ts'
import { placePath } from '../session/scope.ts'
import { ENTRY_GROUPS } from './entries.ts'
import { findEverywhere } from './find-everywhere.ts'
import type { NavigationTarget } from './target.ts'

const TYPING_MS = 180
const MIN_LENGTH = 2

/** The search over everything: pages at once, things of the workspace as the server finds them. */
export function Search({ target }: { readonly target: NavigationTarget }) {
  const [typed, setTyped] = useState('')
  const text = typed.trim()
  const [asked] = useDebouncedValue(text, TYPING_MS)
  const navigate = useNavigate()
  const { workspaceId, mode } = target
  const found = useQuery({
    queryKey: ['find', workspaceId, mode, asked],
    queryFn: async () => await findEverywhere({ workspaceId, mode, text: asked }),
    enabled: asked.length >= MIN_LENGTH,
    retry: false,
  })
  const go = (page: string) => {
    setTyped('')
    void navigate(placePath(workspaceId, mode, page))
  }
  const pages = ENTRY_GROUPS.flatMap(({ entries }) => entries).filter(
    ({ label, needs }) => mayDo(target.role, needs) && label.toLowerCase().includes(text.toLowerCase()),
  )
  const waiting = asked !== text || found.isFetching
  return (
    <Spotlight.Root query={typed} onQueryChange={setTyped} shortcut="mod + K" scrollable maxHeight={420}>
      <Spotlight.Search
        placeholder="Invoice, order, address, transaction, event…"
        aria-label="Search everything"
        leftSection={<IconSearch size={18} aria-hidden />}
      />
      <Spotlight.ActionsList>
        {(found.data ?? []).map(({ label, detail, page }) => (
          <Spotlight.Action key={page} onClick={() => go(page)}>
            <span className="pm-found">
              <b>
                <ForeignText>{label}</ForeignText>
              </b>
              <span className="pm-muted">
                <ForeignText>{detail}</ForeignText>
              </span>
            </span>
          </Spotlight.Action>
        ))}
        {pages.map(({ label, page, icon: Icon }) => (
          <Spotlight.Action
            key={page}
            onClick={() => go(page)}
            leftSection={<Icon size={16} aria-hidden />}
            label={label}
          />
        ))}
        {text.length >= MIN_LENGTH ? (
          <Spotlight.Action
            key="explain"
            onClick={() => go(`explain?q=${encodeURIComponent(text)}`)}
            label={`Explain “${text}”`}
            description="Look on all networks"
          />
        ) : null}
        {found.error === null || waiting ? null : <Spotlight.Empty>Could not search. Try again.</Spotlight.Empty>}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  )
}
