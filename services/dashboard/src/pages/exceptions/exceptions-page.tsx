import { Button, Checkbox } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Link, useNavigate, useParams, useSearchParams } from 'react-router'
import { trpc } from '#services/dashboard/src/api/trpc.ts'
import type { ExceptionRow } from '#services/dashboard/src/pages/money/answers.ts'
import { Card } from '#services/dashboard/src/parts/card.tsx'
import { loadedDialog } from '#services/dashboard/src/parts/dialog/loaded-dialog.tsx'
import { EmptyState } from '#services/dashboard/src/parts/empty-state.tsx'
import { Money } from '#services/dashboard/src/parts/money.tsx'
import { Page } from '#services/dashboard/src/parts/page.tsx'
import { RowsSkeleton } from '#services/dashboard/src/parts/page-skeleton.tsx'
import { QueryView } from '#services/dashboard/src/parts/query-view.tsx'
import { ToneBadge } from '#services/dashboard/src/parts/status-badge.tsx'
import { VOCABULARY } from '#services/dashboard/src/parts/status-vocabulary.ts'
import { useCursorPages } from '#services/dashboard/src/parts/table/use-cursor-pages.ts'
import { useFocusAfterClose } from '#services/dashboard/src/parts/table/use-focus-after-close.ts'
import { useStartOfPage } from '#services/dashboard/src/parts/table/use-start-of-page.ts'
import { useUrlFilters } from '#services/dashboard/src/parts/table/use-url-filters.ts'
import { Time, WithTimes } from '#services/dashboard/src/parts/time.tsx'
import { UntrustedText } from '#services/dashboard/src/parts/untrusted-text.tsx'
import { useLoaded } from '#services/dashboard/src/parts/use-loaded.ts'
import { useMay, useScope, useTo } from '#services/dashboard/src/session/scope.ts'
import type { Tone } from '#shared/contracts/tone.ts'
import { isMoneyException } from '#shared/domain/enumerations.ts'
import '#services/dashboard/src/pages/money/money.css'
import { Hint } from '#services/dashboard/src/parts/hint.tsx'
import { NothingChosen } from './nothing-chosen.tsx'

const BulkDialog = loadedDialog(async () => (await import('./bulk-dialog.tsx')).BulkDialog)

const FILTERS = { view: 'open', group: 'all' }
const GROUPS = ['all', 'money', 'system'] as const
const GROUP_LABELS = { all: 'All kinds', money: 'Money', system: 'System' } as const

/** Exceptions that need a decision. */
export function ExceptionsPage() {
  const scope = useScope()
  const { id } = useParams()
  const [params] = useSearchParams()
  const { filters, set } = useUrlFilters(FILTERS)
  const pages = useCursorPages()
  const may = useMay('support')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const inbox = useRef<HTMLDivElement>(null)
  useStartOfPage(inbox, pages.cursor)
  const view = filters.view === 'resolved' ? 'resolved' : 'open'
  const group = GROUPS.find((one) => one === filters.group) ?? 'all'
  const counts = useQuery(trpc.exceptions.counts.queryOptions(scope))
  const list = useQuery(
    trpc.exceptions.list.queryOptions(
      { ...scope, view, group, cursor: pages.cursor },
      { placeholderData: keepPreviousData },
    ),
  )
  const open = counts.data?.all
  const query = params.toString()
  // What is selected is always in view, or was on an earlier page of the same list.
  const filter = (change: Partial<typeof FILTERS>) => {
    setChosen(new Set())
    set(change)
  }
  return (
    <Page
      title="Exceptions"
      beside={
        open === undefined ? undefined : (
          <span className="pm-muted">{open === 0 ? 'No open exceptions' : `${open} open`}</span>
        )
      }
      actions={
        <Button variant="default" onClick={() => filter({ view: view === 'open' ? 'resolved' : 'open' })}>
          {view === 'open' ? 'Resolved' : 'Open'}
        </Button>
      }
    >
      <div className="pm-inbox pm-list" ref={inbox}>
        <Card flush>
          {view === 'open' ? (
            <div className="pm-card-body pm-row">
              {GROUPS.map((one) => (
                <Button
                  key={one}
                  size="xs"
                  radius="xl"
                  variant={group === one ? 'light' : 'default'}
                  aria-pressed={group === one}
                  onClick={() => filter({ group: one })}
                >
                  {GROUP_LABELS[one]} {counts.data?.[one] ?? ''}
                </Button>
              ))}
            </div>
          ) : null}
          {view === 'open' && may ? <BulkBar chosen={chosen} onChange={setChosen} /> : null}
          <QueryView query={list} what="the exceptions">
            {({ items }) => (
              <div
                className={list.isPlaceholderData ? 'pm-old-rows' : undefined}
                inert={list.isPlaceholderData}
                aria-busy={list.isPlaceholderData}
              >
                <Rows
                  rows={items}
                  selected={id}
                  query={query}
                  isOpen={view === 'open'}
                  choice={view === 'open' && may ? { chosen, set: setChosen } : null}
                />
              </div>
            )}
          </QueryView>
          {typeof list.data?.nextCursor === 'string' || pages.cursor !== undefined ? (
            <div className="pm-card-body pm-row pm-end">
              <Button size="xs" variant="default" disabled={pages.cursor === undefined} onClick={pages.newer}>
                Back
              </Button>
              <Button
                size="xs"
                variant="default"
                disabled={typeof list.data?.nextCursor !== 'string'}
                onClick={() => typeof list.data?.nextCursor === 'string' && pages.older(list.data.nextCursor)}
              >
                More
              </Button>
            </div>
          ) : null}
        </Card>
        {id === undefined ? (
          <NothingChosen
            oldest={view === 'open' && pages.cursor === undefined ? list.data?.items[0] : undefined}
            kinds={counts.data?.kinds ?? []}
            query={query}
            mayDecide={view === 'open' && may}
          />
        ) : (
          <Opened id={id} query={query} />
        )}
      </div>
    </Page>
  )
}

function Rows(props: {
  readonly rows: readonly ExceptionRow[]
  readonly selected: string | undefined
  readonly query: string
  readonly isOpen: boolean
  /** Rows that are selected to be decided together; null for people who may not decide. */
  readonly choice: { readonly chosen: ReadonlySet<string>; readonly set: (chosen: ReadonlySet<string>) => void } | null
}) {
  const to = useTo()
  const list = useRef<HTMLElement>(null)
  useFocusAfterClose(list, props.selected)
  if (props.rows.length === 0) {
    return (
      <EmptyState
        title={props.isOpen ? 'All clear.' : 'No resolved exceptions yet.'}
        text="Late, short, misdirected payments and failures appear here."
      />
    )
  }
  return (
    <nav aria-label="Exceptions" ref={list}>
      {props.rows.map((row) => (
        <div key={row.id} className="pm-inbox-item">
          {props.choice === null ? null : <Choice row={row} {...props.choice} />}
          <Link
            to={`${to('exceptions', row.id)}${props.query === '' ? '' : `?${props.query}`}`}
            className="pm-inbox-row"
            aria-current={row.id === props.selected ? 'true' : undefined}
            data-row-id={row.id}
            data-row-link=""
          >
            <span className="pm-inbox-head">
              <ToneBadge tone={toneOf(row.kind)}>{row.title}</ToneBadge>
              <span className="pm-dim pm-small">
                <Time at={row.closedAt ?? row.openedAt} />
              </span>
            </span>
            {row.invoice === null ? null : (
              <span className="pm-inbox-head">
                <span className="pm-inbox-who">
                  <b>#{row.invoice.number}</b>
                  {row.invoice.customer === null ? null : (
                    <>
                      {' · '}
                      <UntrustedText>{row.invoice.customer}</UntrustedText>
                    </>
                  )}
                </span>
                <Money {...row.invoice.amount} />
              </span>
            )}
            <span className="pm-muted pm-small">
              <WithTimes text={row.sentence} />
            </span>
            {row.resolved !== null && row.closedAt !== null ? (
              <span className="pm-small">
                {row.resolved.by}: {row.resolved.resolution}
              </span>
            ) : null}
          </Link>
        </div>
      ))}
    </nav>
  )
}

function Choice(props: {
  readonly row: ExceptionRow
  readonly chosen: ReadonlySet<string>
  readonly set: (chosen: ReadonlySet<string>) => void
}) {
  const { row, chosen, set } = props
  const isChosen = chosen.has(row.id)
  return (
    <Checkbox
      size="md"
      aria-label={`Select ${row.title}${row.invoice === null ? '' : ` on #${row.invoice.number}`}`}
      checked={isChosen}
      onChange={() => set(new Set(isChosen ? [...chosen].filter((id) => id !== row.id) : [...chosen, row.id]))}
    />
  )
}

/** The colour of the invoice's own state: an overpayment looks the same here and on its invoice. */
function toneOf(kind: ExceptionRow['kind']): Tone {
  if (kind === 'over') return VOCABULARY.invoice.overpaid.tone
  return isMoneyException(kind) ? 'partial' : 'danger'
}

function Opened({ id, query }: { readonly id: string; readonly query: string }) {
  const scope = useScope()
  const to = useTo()
  const navigate = useNavigate()
  const entry = useQuery(trpc.exceptions.get.queryOptions({ ...scope, id }))
  const Item = useLoaded(true, async () => (await import('./exception-item.tsx')).ExceptionItem)
  const close = () => void navigate(`${to('exceptions')}${query === '' ? '' : `?${query}`}`)
  const waiting = (
    <Card>
      <RowsSkeleton rows={6} />
    </Card>
  )
  return (
    <QueryView query={entry} what="this exception" skeleton={waiting}>
      {(known) => (Item === null ? waiting : <Item key={id} known={known} onClose={close} />)}
    </QueryView>
  )
}

/** Maximum for one confirmation: the server takes no more. */
const MAX = 50

/** What can be done with the selected exceptions; nothing while none is selected. */
export function BulkBar(props: {
  readonly chosen: ReadonlySet<string>
  readonly onChange: (chosen: ReadonlySet<string>) => void
}) {
  const { chosen, onChange } = props
  const [ids, setIds] = useState<readonly string[] | null>(null)
  const tooMany = chosen.size > MAX
  return (
    <>
      {chosen.size === 0 ? null : (
        <div className="pm-card-body pm-row">
          <Hint label={tooMany ? `At most ${MAX} at once.` : 'Shows a preview first'}>
            <Button size="xs" disabled={tooMany} onClick={() => setIds([...chosen])}>
              Decide {chosen.size} selected …
            </Button>
          </Hint>
          <Button size="xs" variant="default" onClick={() => onChange(new Set())}>
            Clear selection
          </Button>
          {tooMany ? <span className="pm-small">At most {MAX} at once.</span> : null}
        </div>
      )}
      <BulkDialog
        ids={ids ?? []}
        open={ids !== null}
        onClose={() => setIds(null)}
        onDone={(done) => onChange(new Set([...chosen].filter((id) => !done.includes(id))))}
      />
    </>
  )
}
