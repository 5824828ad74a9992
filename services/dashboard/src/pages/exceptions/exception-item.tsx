import { CloseButton } from '@mantine/core'
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react'
import { useEffect, useRef } from 'react'
import { Link } from 'react-router'
import { showDecimal } from '../../format/amounts.ts'
import { CopyText } from '../../parts/copy-text.tsx'
import { closeOnEscape } from '../../parts/dialog/close-on-escape.ts'
import { Money } from '../../parts/money.tsx'
import { ToneBadge } from '../../parts/status-badge.tsx'
import { CardTable } from '../../parts/table/card-table.tsx'
import type { Column } from '../../parts/table/column.ts'
import { Time, WithTimes } from '../../parts/time.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import { useTo } from '../../session/scope.ts'
import type { ExceptionDetail } from '../money/answers.ts'
import { DecideForm } from './decide-form.tsx'

/** One exception: what happened, the evidence, the value, and the decision. */
export function ExceptionItem({ known, onClose }: { readonly known: ExceptionDetail; readonly onClose: () => void }) {
  const { entry, invoice, payment } = known
  const to = useTo()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <aside className="pm-card" aria-label={entry.title} onKeyDown={closeOnEscape(onClose)}>
      <div className="pm-card-body pm-stack">
        <div className="pm-inbox-head">
          <h2 ref={heading} tabIndex={-1}>
            {entry.title}
            {invoice === null ? null : (
              <>
                {' '}
                on <Link to={to('invoices', invoice.id)}>invoice #{invoice.number}</Link>
              </>
            )}
          </h2>
          <span className="pm-row">
            {entry.closedAt === null ? (
              <ToneBadge tone="partial">Open</ToneBadge>
            ) : (
              <ToneBadge tone="cancelled">Closed</ToneBadge>
            )}
            <CloseButton aria-label="Close" onClick={onClose} />
          </span>
        </div>
        <p className="pm-muted pm-small pm-row">
          {invoice?.orderId == null ? null : (
            <span>
              Order <UntrustedText mono>{invoice.orderId}</UntrustedText> ·
            </span>
          )}
          {invoice === null ? null : (
            <span>
              <Money {...invoice.amount} /> ·
            </span>
          )}
          <span>
            opened <Time at={entry.openedAt} />
          </span>
        </p>
        <p className="pm-sentence">
          <WithTimes text={entry.sentence} />
        </p>
        <Resolution known={known} />
        <Evidence known={known} />
        {payment?.txHash == null ? null : (
          <p className="pm-row">
            <CopyText text={payment.txHash} what="transaction" short />
            <Link to={`${to('explain')}?q=${encodeURIComponent(payment.txHash)}`}>Trace</Link>
          </p>
        )}
        <WorthBox known={known} />
        {known.refund === null || invoice === null ? null : (
          <p>
            <Link className="pm-link" to={`${to('invoices', invoice.id)}?refund=1`}>
              Refund {known.refund.amount} {known.refund.symbol} …
            </Link>{' '}
            <span className="pm-muted pm-small">Prepares the refund; nothing is sent.</span>
          </p>
        )}
        <Notes known={known} />
        <DecideForm known={known} />
      </div>
    </aside>
  )
}

const DONE = {
  accepted: 'accepted it',
  attached: 'applied it to an invoice',
  rejected: 'rejected it',
  closed: 'marked it as resolved',
} as const

/** Who decided, or is deciding now. */
function Resolution({ known: { entry } }: { readonly known: ExceptionDetail }) {
  const { resolved, deciding, closedAt } = entry
  if (closedAt === null && deciding !== null) {
    return <p className="pm-note tone-pending">{deciding.by} is working on this.</p>
  }
  if (closedAt === null && resolved === null) return null
  return (
    <div className="pm-note tone-new">
      <p className="pm-note-text">
        {resolved === null ? (
          <>
            Closed automatically at <Time at={closedAt} />: no longer applies.
          </>
        ) : (
          <>
            <b>{resolved.by}</b> {DONE[resolved.resolution]} at <Time at={resolved.at} />.
            {closedAt === null ? ' It has reopened since.' : ''}
            {resolved.reason === null ? null : (
              <>
                {' '}
                Reason: <UntrustedText>{resolved.reason}</UntrustedText>
              </>
            )}
          </>
        )}
      </p>
    </div>
  )
}

function Evidence({ known }: { readonly known: ExceptionDetail }) {
  if (known.evidence.length === 0) return null
  return <CardTable label="Evidence" columns={EVIDENCE_COLUMNS} rows={known.evidence} keyOf={({ check }) => check} />
}

const EVIDENCE_COLUMNS: readonly Column<ExceptionDetail['evidence'][number]>[] = [
  { header: 'Check', isRowHeader: true, namesItself: true, cell: ({ check }) => check },
  { header: 'Rule', cell: ({ rule }) => <Fact text={rule} /> },
  { header: 'This payment', cell: ({ fact }) => <Fact text={fact} /> },
  {
    header: 'Result',
    namesItself: true,
    cell: ({ result, ok }) =>
      result === '' ? null : (
        <ToneBadge
          tone={ok === null ? 'new' : ok ? 'paid' : 'danger'}
          icon={ok === null ? undefined : ok ? IconCheck : IconAlertTriangle}
        >
          {result}
        </ToneBadge>
      ),
  },
]

const Fact = ({ text }: { readonly text: string }) => (
  <span className="pm-break">
    <WithTimes text={text} />
  </span>
)

function WorthBox({ known: { worth } }: { readonly known: ExceptionDetail }) {
  if (worth === null) return null
  const below = worth.difference?.startsWith('−') === true
  return (
    <dl className="pm-worth pm-num">
      <div>
        <dt>Value when locked</dt>
        <dd>
          {showDecimal(worth.atQuote)} {worth.currency}
        </dd>
      </div>
      <div>
        <dt>Value now</dt>
        <dd>{worth.now === null ? 'no current rate' : `${showDecimal(worth.now)} ${worth.currency}`}</dd>
      </div>
      {worth.difference === null ? null : (
        <div>
          <dt>Change since</dt>
          <dd>
            {/[1-9]/.test(worth.difference)
              ? `${showDecimal(worth.difference.replace('−', ''))} ${worth.currency} ${below ? 'below' : 'above'}`
              : 'No change'}
          </dd>
        </div>
      )}
    </dl>
  )
}

function Notes({ known: { entry } }: { readonly known: ExceptionDetail }) {
  if (entry.notes.length === 0) return null
  return (
    <ul aria-label="Notes" className="pm-story">
      {entry.notes.map((note) => (
        <li key={`${note.at}-${note.by}`}>
          <Time at={note.at} />
          <span />
          <span>
            <b>{note.by}</b>:{' '}
            {note.text === null ? (
              <span className="pm-dim">Erased with the customer’s data.</span>
            ) : (
              <UntrustedText>{note.text}</UntrustedText>
            )}
          </span>
        </li>
      ))}
    </ul>
  )
}
