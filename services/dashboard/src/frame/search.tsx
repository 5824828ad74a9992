import { useDebouncedValue } from '@mantine/hooks'
import '@mantine/spotlight/styles.css'
import { Spotlight, spotlight } from '@mantine/spotlight'
import { IconFileText, IconSearch, IconWallet, IconWebhook } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { useNavigate } from 'react-router'
import { UntrustedText } from '../parts/untrusted-text.tsx'
import { mayDo } from '../session/roles.ts'
import { placePath } from '../session/scope.ts'
import { onEarlyKeys } from './early-keys.ts'
import { ENTRY_GROUPS, type Entry } from './entries.ts'
import { globalSearch } from './global-search.ts'
import type { NavigationTarget } from './target.ts'

const TYPING_MS = 180
const LIST_ID = 'pm-found-everywhere'
/** Invoice numbers are searched from the first digit, anything else from the second character. */
const QUESTION = /^#?\d+$|^../

/** What people come to do: pages that no entry of the navigation names. */
const ACTIONS: readonly Entry[] = [
  { label: 'New invoice', page: 'invoices/new', icon: IconFileText, needs: 'support' },
  { label: 'Add a wallet', page: 'wallets/add', icon: IconWallet, needs: 'admin' },
  { label: 'Webhook endpoints', page: 'webhooks/endpoints', icon: IconWebhook, needs: 'viewer' },
  { label: 'Webhook events', page: 'webhooks/events', icon: IconWebhook, needs: 'viewer' },
]

/** Opens the search, also before it is on the page. */
export const showSearch = (): void => spotlight.open()

/**
 * The global search: pages at once, objects of the workspace as the server finds them. Enter opens the first result,
 * and waits for the response when it is pressed before.
 */
export function Search({ target }: { readonly target: NavigationTarget }) {
  const [typed, setTyped] = useState('')
  const text = typed.trim()
  const [query] = useDebouncedValue(text, TYPING_MS)
  const navigate = useNavigate()
  const { workspaceId, mode } = target
  const found = useQuery({
    queryKey: ['find', workspaceId, mode, query],
    queryFn: async () => await globalSearch({ workspaceId, mode, text: query }),
    enabled: QUESTION.test(query),
    retry: false,
  })
  const go = (page: string) => {
    setTyped('')
    void navigate(placePath(workspaceId, mode, page))
  }
  const pages = [...ENTRY_GROUPS.flatMap(({ entries }) => entries), ...ACTIONS].filter(
    ({ label, needs }) => mayDo(target.role, needs) && label.toLowerCase().includes(text.toLowerCase()),
  )
  const isQuestion = QUESTION.test(text)
  const waiting = isQuestion && (query !== text || found.isFetching)
  const explain = isQuestion ? `explain?q=${encodeURIComponent(text)}` : undefined
  const first = found.data?.[0]?.page ?? pages[0]?.page ?? (found.error === null ? explain : undefined)
  const { keys, enter } = useEnter({ text, waiting, answer: found.data, first, open: go })
  useEffect(() => {
    onEarlyKeys((early) => {
      const [line = '', ...entered] = early.split('\n')
      setTyped(line)
      if (entered.length > 0) enter(line.trim())
    })
  }, [enter])
  return (
    <Spotlight.Root
      query={typed}
      onQueryChange={setTyped}
      shortcut={null}
      scrollable
      maxHeight={420}
      attributes={{ content: { 'aria-label': 'Search everywhere' } }}
    >
      <div onKeyDownCapture={keys}>
        <Spotlight.Search
          placeholder="Search invoices, customers, transactions, pages…"
          aria-label="Search everywhere"
          leftSection={<IconSearch size={18} aria-hidden />}
        />
      </div>
      <Spotlight.ActionsList id={LIST_ID}>
        {(found.data ?? []).map(({ label, detail, page }) => (
          <Spotlight.Action key={page} onClick={() => go(page)}>
            <span className="pm-found">
              <b>
                <UntrustedText>{label}</UntrustedText>
              </b>
              <span className="pm-muted">
                <UntrustedText>{detail}</UntrustedText>
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
        {explain !== undefined ? (
          <Spotlight.Action
            key="explain"
            onClick={() => go(explain)}
            label={`Trace “${text}”`}
            description="Look it up on all networks"
          />
        ) : null}
        {found.error === null || waiting ? null : <Spotlight.Empty>Could not search. Try again.</Spotlight.Empty>}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  )
}

/**
 * Keeps the first entry selected while results arrive, unless the person moved the selection, and lets Enter wait for a response
 * in flight: the library's component selects by element and would keep an entry that the results pushed down. Returns the key
 * handler, for the capture phase around the field, and what Enter does with a text.
 */
function useEnter(props: {
  readonly text: string
  readonly waiting: boolean
  readonly answer: unknown
  readonly first: string | undefined
  readonly open: (page: string) => void
}): { readonly keys: (event: KeyboardEvent) => void; readonly enter: (text: string) => void } {
  const { text, waiting, answer, first, open } = props
  const hasMoved = useRef(false)
  const [enteredText, setEnteredText] = useState<string | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new text gives a new list
  useEffect(() => {
    hasMoved.current = false
  }, [text])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a response inserts entries before the selected one
  useEffect(() => {
    if (!hasMoved.current) selectFirst()
  }, [answer])
  useEffect(() => {
    if (enteredText !== text || waiting || first === undefined) return
    setEnteredText(null)
    spotlight.close()
    open(first)
  }, [enteredText, text, waiting, first, open])
  const keys = (event: KeyboardEvent) => {
    if (event.code === 'ArrowDown' || event.code === 'ArrowUp') hasMoved.current = true
    if ((event.code !== 'Enter' && event.code !== 'NumpadEnter') || hasMoved.current) return
    event.preventDefault()
    event.stopPropagation()
    setEnteredText(text)
  }
  return { keys, enter: setEnteredText }
}

function selectFirst(): void {
  for (const [index, entry] of document.querySelectorAll(`#${LIST_ID} [data-action]`).entries()) {
    entry.toggleAttribute('data-selected', index === 0)
  }
}
