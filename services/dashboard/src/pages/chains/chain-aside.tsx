import { Button, NumberInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { failureOf } from '#services/dashboard/src/api/failure.ts'
import { api, trpc } from '#services/dashboard/src/api/trpc.ts'
import { showCount } from '#services/dashboard/src/format/amounts.ts'
import { showDuration } from '#services/dashboard/src/format/time.ts'
import { ActionButton } from '#services/dashboard/src/parts/action/action-button.tsx'
import { useAction } from '#services/dashboard/src/parts/action/use-action.ts'
import { Facts, Note } from '#services/dashboard/src/parts/card.tsx'
import { Aside } from '#services/dashboard/src/parts/dialog/aside.tsx'
import { QueryView } from '#services/dashboard/src/parts/query-view.tsx'
import { Time } from '#services/dashboard/src/parts/time.tsx'
import { UntrustedText } from '#services/dashboard/src/parts/untrusted-text.tsx'
import { NETWORKS } from '#shared/domain/networks.ts'
import { type Chain, ChainBadge } from './chain-badge.tsx'
import { ReleaseDeadlines } from './release-deadlines.tsx'
import { ScanFacts } from './scan-facts.tsx'

type Plan = Awaited<ReturnType<typeof api.chains.plan.query>>

const REFRESH = [trpc.chains.pathFilter()]

/** One chain: its nodes, requests to its scanner, and rescans. */
export function ChainAside({ chain, onClose }: { readonly chain: Chain; readonly onClose: () => void }) {
  const { mode, network, finalizedHeight, headHeight, headAgeMs, mempoolAgeMs, recheckThrough, missingTokens } = chain
  const { facts, row } = chain
  return (
    <Aside
      what="chain"
      id={`${mode} ${network}`}
      title={`${NETWORKS[network].name}${mode === 'test' ? ', test mode' : ''}`}
      beside={<ChainBadge chain={chain} />}
      onClose={onClose}
    >
      <Facts
        facts={[
          ['Head', headHeight === null ? '–' : showCount(headHeight)],
          ['Finalised block', finalizedHeight === null ? '–' : showCount(finalizedHeight)],
          ['Last node response', headAgeMs === null ? '–' : `${showDuration(Math.max(0, headAgeMs))} ago`],
          mempoolAgeMs === null ? null : ['Last mempool read', `${showDuration(Math.max(0, mempoolAgeMs))} ago`],
          missingTokens.length === 0 ? null : ['Refused: no contract on its node', missingTokens.join(', ')],
          recheckThrough === null ? null : ['Checks stored payments up to', showCount(recheckThrough)],
          ...facts
            .filter(({ row: stated }) => stated !== null)
            .map((one) => [FACTS[one.fact], factText(one, mode)] as const),
          ['Network facts compared', `${row.on}${row.isOld ? ', more than 180 days ago' : ''}`],
        ]}
      />
      {chain.scan === null ? null : <ScanFacts scan={chain.scan} />}
      {chain.trouble === null ? null : <TroubleFacts trouble={chain.trouble} />}
      {chain.stuck === null ? null : <ReleaseDeadlines chain={chain} />}
      <Nodes chain={chain} />
      <OpenCommands chain={chain} />
      {chain.status === 'halted' ? <Resume chain={chain} /> : <Rescan chain={chain} />}
    </Aside>
  )
}

type Fact = Chain['facts'][number]

const FACTS: Readonly<Record<Fact['fact'], string>> = {
  block_time: 'Time between blocks',
  finality: 'Time until final',
  reorganisation: 'Deepest reorganisation in 30 days',
}

/** What was measured, and what this version states. A test network may be a local chain at another pace. */
function factText({ fact, unit, row, measured, isOff }: Fact, mode: Chain['mode']): string {
  const show = (amount: number) => (unit === 'blocks' ? `${showCount(amount)} blocks` : secondsText(amount))
  const stated = `${fact === 'reorganisation' ? 'the scan halts beyond' : 'expected'} ${show(row ?? 0)}`
  return `${measured === null ? 'Not measured yet' : show(measured)}, ${stated}${isOff && mode === 'live' ? '. Compare with a block explorer' : ''}`
}

const secondsText = (ms: number): string =>
  ms < 90_000 ? `${Number((ms / 1_000).toPrecision(3))} s` : showDuration(ms)

function Nodes({ chain: { mode, network } }: { readonly chain: Chain }) {
  const nodes = useQuery(trpc.chains.nodes.queryOptions({ mode, network }, { staleTime: 10_000 }))
  return (
    <section>
      <h3>Nodes</h3>
      <QueryView
        query={nodes}
        what="nodes"
        skeleton={
          <p className="pm-muted" aria-busy="true">
            Checking each node…
          </p>
        }
      >
        {(data) => (
          <ul className="pm-plain">
            {data.nodes.map(({ host, height, tookMs, fault }) => (
              <li key={host}>
                <span className="pm-mono">{host}</span>{' '}
                {fault === null && height !== null ? (
                  <span className="pm-muted">
                    block {showCount(height)}
                    {tookMs === null ? '' : `, ${tookMs} ms`}
                  </span>
                ) : (
                  <span className="pm-bad">{fault}</span>
                )}
              </li>
            ))}
            {data.nodes.length === 0 ? <li className="pm-muted">No nodes configured.</li> : null}
          </ul>
        )}
      </QueryView>
    </section>
  )
}

function OpenCommands({ chain: { mode, network, open } }: { readonly chain: Chain }) {
  const cancel = useAction({
    call: (ids, input: { readonly kind: 'rescan' | 'rewind' | 'resume' | 'skip' }) =>
      api.chains.cancel.mutate({ mode, network, ...ids, ...input }),
    done: ({ cancelled, tooLate }) =>
      cancelled.length > 0
        ? 'Cancelled.'
        : tooLate.length > 0
          ? 'Too late: it is already running.'
          : 'There was nothing to cancel.',
    refresh: REFRESH,
  })
  if (open.length === 0) return null
  return (
    <section className="pm-stack">
      <h3>Pending scanner requests</h3>
      {open.map(({ id, kind, from, to, nextHeight, changed, requestedBy, requestedAt }) => (
        <Note key={id} tone="pending">
          <p>
            {kind} {from === null ? '' : `from ${showCount(from)} `}
            {to === null ? '' : `to ${showCount(to)} `}by {requestedBy.replace(/^user:/, '')}, <Time at={requestedAt} />
            {nextHeight === null ? '' : `; next block ${showCount(nextHeight)}, ${changed} payments so far`}.
          </p>
          <ActionButton action={cancel} input={{ kind }} size="xs" variant="default" reason="optional">
            Cancel request
          </ActionButton>
        </Note>
      ))}
    </section>
  )
}

function Resume({ chain: { mode, network } }: { readonly chain: Chain }) {
  const action = useAction({
    call: (ids, input: { readonly acceptReorg: boolean }) =>
      api.chains.request.mutate({ mode, network, kind: 'resume', ...ids, ...input }),
    done: 'Requested. The scanner starts within seconds.',
    refresh: REFRESH,
  })
  return (
    <ActionButton
      action={action}
      input={{ acceptReorg: false }}
      reason="required"
      confirm={
        <p>
          Scanning resumes from the newest block that the node still has. It refuses a reorganisation of final blocks;
          to accept one, run <span className="pm-mono">paymesh chain resume --accept-reorg</span>.
        </p>
      }
    >
      Resume scanning
    </ActionButton>
  )
}

const USUAL_SPAN = 50

function Rescan({ chain: { mode, network, height } }: { readonly chain: Chain }) {
  const top = height ?? 0
  const [from, setFrom] = useState<number | ''>(Math.max(0, top - USUAL_SPAN))
  const [to, setTo] = useState<number | ''>(top)
  const [plan, setPlan] = useState<Plan | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const action = useAction({
    call: (ids, input: { readonly from: number; readonly to: number }) =>
      api.chains.request.mutate({ mode, network, kind: 'rescan', ...ids, ...input }),
    done: 'Requested. The scanner starts within seconds.',
    refresh: REFRESH,
    onDone: () => setPlan(null),
  })
  if (height === null || height < 0) return null
  const dryRun = async (event: FormEvent) => {
    event.preventDefault()
    if (busy || from === '' || to === '') return
    setBusy(true)
    setProblem(null)
    try {
      setPlan(await api.chains.plan.query({ mode, network, kind: 'rescan', from, to }))
    } catch (error) {
      const { fields, message } = failureOf(error)
      const [first] = Object.entries(fields)
      setPlan(null)
      setProblem(first === undefined ? message : `${first[0]}: ${first[1]}`)
    } finally {
      setBusy(false)
    }
  }
  const change = (set: (value: number | '') => void) => (value: number | string) => {
    setPlan(null)
    set(typeof value === 'number' ? value : '')
  }
  return (
    <section>
      <h3>Rescan blocks</h3>
      <p className="pm-muted">Finds missed payments, sends no webhook twice and reverses nothing. Safe to repeat.</p>
      <form onSubmit={(event) => void dryRun(event)} className="pm-stack">
        <div className="pm-choice">
          <NumberInput
            label="From block"
            value={from}
            onChange={change(setFrom)}
            min={0}
            max={top}
            allowDecimal={false}
          />
          <NumberInput label="To block" value={to} onChange={change(setTo)} min={0} max={top} allowDecimal={false} />
        </div>
        {problem === null ? null : (
          <div role="alert">
            <Note tone="danger">{problem}</Note>
          </div>
        )}
        {plan === null ? null : <PlanNote plan={plan} />}
        <div className="pm-row pm-end">
          <Button type="submit" variant="default" loading={busy} disabled={from === '' || to === ''}>
            Dry run
          </Button>
          <ActionButton
            action={action}
            input={{ from: from === '' ? 0 : from, to: to === '' ? 0 : to }}
            reason="required"
            refusal={plan === null ? 'Run a dry run first.' : null}
          >
            Rescan these blocks
          </ActionButton>
        </div>
      </form>
    </section>
  )
}

function PlanNote({ plan: { plan, preview } }: { readonly plan: Plan }) {
  const { from, to, livePayments, confirmedPayments } = plan
  const blocks = from === null || to === null ? 0 : to - from + 1
  return (
    <div role="status">
      <Note tone={preview !== null && preview.changes.length > 0 ? 'partial' : 'pending'}>
        <p>
          {showCount(blocks)} blocks with {livePayments} stored payments, {confirmedPayments} of them confirmed.
        </p>
        {preview === null ? (
          <p>Too many blocks for a preview. The scanner reports the result when it is done.</p>
        ) : preview.changes.length === 0 ? (
          <p>A rescan would change nothing.</p>
        ) : (
          <ul className="pm-plain">
            {preview.changes.slice(0, 20).map(({ effect, height, amount, invoiceId, txHash }) => (
              <li key={`${effect} ${txHash} ${amount} ${height}`}>
                {effect.replaceAll('_', ' ')}: {amount}, block {height ?? '–'},{' '}
                {invoiceId === null ? 'exceptions' : 'an invoice'}
              </li>
            ))}
          </ul>
        )}
      </Note>
    </div>
  )
}

/** The failure that prevents reading the next block: block, call, node, reason, and duration. */
export function TroubleFacts({ trouble }: { readonly trouble: NonNullable<Chain['trouble']> }) {
  const { height, method, reason, host, firstAt, lastAt, tries } = trouble
  return (
    <section>
      <h3>Problem</h3>
      <Facts
        facts={[
          ['Block', showCount(height)],
          ['Method', <Name key="method" text={method} />],
          ['Node', <Name key="node" text={host} />],
          ['Cause', <UntrustedText key="cause">{reason}</UntrustedText>],
          ['Since', <Time key="since" at={firstAt} detail />],
          ['Last attempt', <Time key="last" at={lastAt} detail />],
          ['Attempts', `${showCount(tries)} or more`],
        ]}
      />
    </section>
  )
}

function Name({ text }: { readonly text: string | null }) {
  return text === null ? <span className="pm-dim">–</span> : <UntrustedText mono>{text}</UntrustedText>
}
