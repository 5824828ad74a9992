import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { trpc } from '../../api/trpc.ts'
import { CopyText } from '../../parts/copy-text.tsx'
import { QueryView } from '../../parts/query-view.tsx'
import { useScope } from '../../session/scope.ts'
import { Meter } from '../webhooks/meter.tsx'

/** Reading a wallet's use reads every offered address. */
const FRESH_MS = 60_000
/** A pool with less than this share free is low. */
const LOW_SHARE = 0.2
/** Steps in which gap limits are usually set. */
const GAP_STEP = 20

/** How far a wallet is used, with the resulting instruction. */
export function WalletMeter({ wallet }: { readonly wallet: { readonly id: string; readonly family: string } }) {
  const scope = useScope()
  const use = useQuery(trpc.wallets.use.queryOptions({ ...scope, walletId: wallet.id }, { staleTime: FRESH_MS }))
  return (
    <QueryView query={use} what="wallet usage" skeleton={<Skeleton height={40} />}>
      {(data) => {
        if (data.kind === 'address') return <p>Invoices are matched by their exact amounts.</p>
        return data.kind === 'pool' ? <PoolMeter {...data} /> : <GapMeter {...data} family={wallet.family} />
      }}
    </QueryView>
  )
}

interface Pool {
  readonly total: number
  readonly free: number
  readonly reserved: number
}

function PoolMeter({ total, free, reserved }: Pool) {
  const low = free <= total * LOW_SHARE
  const words = `${free} of ${total} free${low ? ', add more' : ''}`
  return (
    <div className="pm-plain">
      <p className="pm-row pm-spread">
        <span>Free addresses</span> <b className={low ? 'pm-warn' : undefined}>{words}</b>
      </p>
      <Meter
        label={words}
        share={total === 0 ? 1 : 1 - free / total}
        mark={1 - LOW_SHARE}
        tone={low ? 'warn' : 'good'}
      />
      <p className="pm-dim pm-small">
        Each address is used for one invoice at a time and becomes free a day after the last price lock. {reserved} of{' '}
        {total} are reserved for your own integrations and are not available to visitors of payment links.
      </p>
    </div>
  )
}

interface Gap {
  readonly family: string
  readonly nextIndex: number
  readonly lastPaidIndex: number | null
  readonly requiredGap: number
  readonly usualGap: number
  readonly isComplete: boolean
}

function GapMeter({ family, nextIndex, lastPaidIndex, requiredGap, usualGap, isComplete }: Gap) {
  const passed = requiredGap > usualGap
  const near = requiredGap > usualGap * 0.75
  const needed = Math.ceil((requiredGap + GAP_STEP / 2) / GAP_STEP) * GAP_STEP
  const command = `wallet.change_gap_limit(${needed})`
  return (
    <div className="pm-plain">
      <p className="pm-row pm-spread">
        <span>Gap</span>{' '}
        <b className={passed ? 'pm-bad' : undefined}>
          {isComplete ? '' : 'at least '}
          {requiredGap} of {usualGap} unpaid addresses in a row{' '}
        </b>
      </p>
      <Meter
        label={`${requiredGap} unpaid addresses in a row; most wallets check ${usualGap} ahead`}
        share={requiredGap / (usualGap * 1.35)}
        mark={1 / 1.35}
        tone={passed ? 'bad' : near ? 'warn' : 'good'}
      />
      {near ? (
        <div>
          <p>
            Most wallets check {usualGap} addresses ahead
            {passed ? ', so they would not show all payments to this key' : ''}. Set your wallet’s gap limit to{' '}
            <b>{needed}</b>
            {isComplete ? '' : ' or more: older addresses were not counted'}.
          </p>
          {family === 'bitcoin' || family === 'litecoin' ? (
            <p>
              In the Electrum console: <CopyText text={command} what="command" />
            </p>
          ) : null}
        </div>
      ) : (
        <p className="pm-dim pm-small">
          {nextIndex === 0
            ? 'No address used yet.'
            : `${nextIndex} addresses used; ${lastPaidIndex === null ? `none${isComplete ? '' : ' of the newest'} paid yet` : `last paid: #${lastPaidIndex + 1}`}.`}
        </p>
      )}
    </div>
  )
}
