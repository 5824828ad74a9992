import { Button, TextInput } from '@mantine/core'
import { IconCheck, IconInfoCircle, IconX, IconZoomQuestion } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import { trpc } from '#services/dashboard/src/api/trpc.ts'
import { showDuration } from '#services/dashboard/src/format/time.ts'
import type { Answer } from '#services/dashboard/src/pages/money/answers.ts'
import { Card } from '#services/dashboard/src/parts/card.tsx'
import { Page } from '#services/dashboard/src/parts/page.tsx'
import { RowsSkeleton } from '#services/dashboard/src/parts/page-skeleton.tsx'
import { QueryView } from '#services/dashboard/src/parts/query-view.tsx'
import { useMay, useScope, useTo } from '#services/dashboard/src/session/scope.ts'
import '#services/dashboard/src/pages/money/money.css'
import { CopyButton } from '#services/dashboard/src/parts/copy-text.tsx'
import { loadedDialog } from '#services/dashboard/src/parts/dialog/loaded-dialog.tsx'
import { WithTimes } from '#services/dashboard/src/parts/time.tsx'
import { bindText } from '../../parts/bind-text.ts'
import { InvoiceFacts, TransferFacts } from './answer-facts.tsx'

const AttachDialog = loadedDialog(async () => (await import('./attach-dialog.tsx')).AttachDialog)

const TONES = { good: 'paid', wait: 'confirming', bad: 'danger', plain: 'new' } as const
const EXAMPLES = [
  'Applied to an invoice',
  'Applied, waiting for 7 more confirmations',
  'Applied to another invoice',
  'Not applied: sent on the wrong network',
  'Not applied: different coin, or unsupported token',
  'Not applied: too late',
  'Not found on any connected network, or not scanned yet',
]

/** Explains whether and why a payment counted. */
export function ExplainPage() {
  const scope = useScope()
  const [params, setParams] = useSearchParams()
  const q = params.get('q') ?? ''
  const [typed, setTyped] = useState(q)
  const answer = useQuery(
    trpc.diagnostics.explain.queryOptions({ ...scope, q }, { enabled: q !== '', staleTime: 5_000, retry: false }),
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const text = typed.trim()
    if (text === q) return void answer.refetch()
    setParams(text === '' ? {} : { q: text })
  }
  return (
    <Page
      title="Trace a payment"
      beside={
        <span className="pm-muted">Why is it paid, or why not? Paste a transaction ID, address or invoice number.</span>
      }
    >
      <search>
        <form onSubmit={submit} className="pm-row pm-explain-form">
          <TextInput
            aria-label="Transaction ID, address, invoice number or ID"
            {...bindText(typed, setTyped)}
            maxLength={200}
            flex={1}
            size="md"
            autoComplete="off"
            spellCheck={false}
            data-page-search=""
          />
          <Button
            type="submit"
            size="md"
            loading={answer.isFetching}
            leftSection={<IconZoomQuestion size={16} aria-hidden />}
          >
            Trace{' '}
          </Button>
        </form>
      </search>
      {q === '' ? (
        <Examples />
      ) : (
        <QueryView query={answer} what="the answer" skeleton={<Searching />}>
          {(data) => <Reported answer={data} />}
        </QueryView>
      )}
    </Page>
  )
}

function Searching() {
  return (
    <Card className="pm-gap-top">
      <p className="pm-muted">Searching Paymesh and all networks…</p>
      <RowsSkeleton rows={4} />
    </Card>
  )
}

function Examples() {
  return (
    <Card title="Possible answers" className="pm-gap-top">
      <ul className="pm-stack">
        {EXAMPLES.map((words) => (
          <li key={words}>{words}</li>
        ))}
      </ul>
    </Card>
  )
}

function Reported({ answer }: { readonly answer: Answer }) {
  const { looked, tookMs, transfer, invoice } = answer
  return (
    <>
      {looked.length === 0 ? null : (
        <p className="pm-muted pm-small pm-gap-top">
          Searched {looked.length} {looked.length === 1 ? 'network' : 'networks'} in {showDuration(tookMs)}
          {transfer === null ? '.' : `. Found on ${transfer.networkName}.`}
        </p>
      )}
      <div className="pm-split pm-gap-top">
        <div className="pm-stack">
          <section className="pm-card" aria-label="Answer">
            <div className={`pm-verdict tone-${TONES[answer.tone]}`} role="status">
              <h2>{answer.title}</h2>
              <p>
                <WithTimes text={answer.sentence} />
              </p>
            </div>
            <Checks checks={answer.checks} />
          </section>
          <NextSteps answer={answer} />
        </div>
        <div className="pm-stack">
          {transfer === null ? null : <TransferFacts transfer={transfer} />}
          {invoice === null ? null : <InvoiceFacts invoice={invoice} />}
        </div>
      </div>
    </>
  )
}

function Checks({ checks }: { readonly checks: Answer['checks'] }) {
  if (checks.length === 0) return null
  return (
    <ol className="pm-checks" aria-label="Evidence">
      {checks.map(({ ok, title, detail }, index) => {
        const Icon = ok === null ? IconInfoCircle : ok ? IconCheck : IconX
        const word = ok === null ? 'Info' : ok ? 'Passed' : 'Failed'
        // Steps of one result never change their order.
        const key = `${index}-${title}`
        return (
          <li key={key}>
            <span className={`pm-check-mark tone-${ok === null ? 'new' : ok ? 'paid' : 'danger'}`}>
              <Icon size={14} role="img" aria-label={word} />
            </span>
            <div>
              <p className="pm-check-title">{title}</p>
              <p className="pm-muted">
                <WithTimes text={detail} />
              </p>
            </div>
          </li>
        )
      })}
    </ol>
  )
}

/** Actions that a person can take now. */
export function NextSteps({ answer }: { readonly answer: Answer }) {
  const to = useTo()
  const may = useMay('support')
  const [attaching, setAttaching] = useState<string | null>(null)
  if (answer.next.length === 0) return null
  return (
    <Card title="What you can do">
      <div className="pm-grid">
        {answer.next.map(({ kind, title, detail, id }) => (
          <div key={`${kind}-${title}`} className="pm-stack pm-step">
            <p className="pm-check-title">{title}</p>
            <p className="pm-muted">{detail}</p>
            <div className="pm-row">
              {kind === 'open_exception' && id !== null ? (
                <Button component={Link} to={to('exceptions', id)} size="xs">
                  Open exception
                </Button>
              ) : null}
              {kind === 'open_invoice' && id !== null ? (
                <Button component={Link} to={to('invoices', id)} size="xs" variant="default">
                  Open invoice
                </Button>
              ) : null}
              {kind === 'attach' && id !== null && may ? (
                <Button size="xs" onClick={() => setAttaching(id)}>
                  Apply to an invoice{' '}
                </Button>
              ) : null}
              {kind === 'contact_operator' ? <CopyButton text={detail} what="request" /> : null}
            </div>
          </div>
        ))}
      </div>
      <AttachDialog open={attaching !== null} paymentId={attaching} onClose={() => setAttaching(null)} />
    </Card>
  )
}
