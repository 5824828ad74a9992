import { Link } from 'react-router'
import type { GoLiveLine } from '#shared/contracts/go-live-report.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import { Card } from '../../parts/card.tsx'
import { ToneBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { useTo } from '../../session/scope.ts'
import { FAMILY_LABELS } from '../wallets/labels.ts'
import { words } from './go-live-words.ts'
import { CompareAddress, SendMail, StartPayment, StateMasterKey } from './item-actions.tsx'

const TONES = { open: 'new', passed: 'paid', failed: 'danger', out_of_date: 'partial' } as const

/** One item: its state, why it matters and how to mend it, and what a person does about it here. */
export function GoLiveItem({ line }: { readonly line: GoLiveLine }) {
  const { kind, state, network, family, reason, about, at, by } = line
  const { title, why, mend } = words.items[kind]
  const subject = network === null ? (family === null ? null : FAMILY_LABELS[family]) : NETWORKS[network].name
  const name = subject === null ? title : `${title}: ${subject}`
  return (
    <Card title={name} label={name} beside={<ToneBadge tone={TONES[state]}>{words.states[state]}</ToneBadge>}>
      <div className="pm-stack">
        {reason === null ? null : (
          <p>
            <b>{words.reasons[reason](about)}</b>
          </p>
        )}
        {state === 'passed' ? null : (
          <dl className="pm-stack">
            <div>
              <dt className="pm-muted">{words.why}</dt>
              <dd>{why}</dd>
            </div>
            <div>
              <dt className="pm-muted">{words.mend}</dt>
              <dd>{mend}</dd>
            </div>
          </dl>
        )}
        <Steps line={line} />
        {kind === 'address' && line.walletId !== null ? (
          <CompareAddress walletId={line.walletId} path={line.path} name={name} />
        ) : null}
        {kind === 'master_key' && state !== 'passed' ? <StateMasterKey /> : null}
        {kind === 'mail' && state !== 'passed' ? <SendMail /> : null}
        {network !== null && state !== 'passed' ? <StartPayment network={network} name={name} /> : null}
        {at === null || by === null ? null : (
          <p className="pm-dim pm-small">
            <Time at={at} /> {words.by} {by.replace(/^user:/, '')}
          </p>
        )}
      </div>
    </Card>
  )
}

const STEPS = ['seen', 'confirming', 'paid', 'delivered'] as const

function Steps({ line: { steps } }: { readonly line: GoLiveLine }) {
  const to = useTo()
  if (steps === null) return null
  return (
    <div className="pm-stack">
      <p>
        <Link to={to('invoices', steps.invoiceId)}>{words.invoice(steps.number)}</Link>
      </p>
      <ol>
        {STEPS.map((step) => (
          <li key={step}>
            {words.steps[step]}: <b>{words.states[steps[step] ? 'passed' : 'open']}</b>
          </li>
        ))}
      </ol>
    </div>
  )
}
