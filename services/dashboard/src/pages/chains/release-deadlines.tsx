import { useQuery } from '@tanstack/react-query'
import { NETWORKS } from '#shared/domain/networks.ts'
import { api, trpc } from '../../api/trpc.ts'
import { showCount } from '../../format/amounts.ts'
import { DeedButton } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { LoadError } from '../../parts/load-error.tsx'
import { Time } from '../../parts/time.tsx'
import type { Chain } from './chain-badge.tsx'

/** Lets deadlines of a stuck network pass unread, after saying how many invoices that ends and what it means. */
export function ReleaseDeadlines({ chain: { mode, network, released } }: { readonly chain: Chain }) {
  const plan = useQuery(trpc.chains.releasePlan.queryOptions({ mode, network }))
  const deed = useDeed({
    call: (ids, input: { readonly through: number }) =>
      api.chains.releaseDeadlines.mutate({ mode, network, reason: '', ...ids, ...input }),
    done: ({ changed, plan: { waiting } }) =>
      changed ? `Released: ${invoices(waiting)} will expire within seconds.` : 'Nothing was left to release.',
    refresh: [trpc.chains.pathFilter()],
  })
  return (
    <section className="pm-stack">
      <h3>Deadlines</h3>
      {plan.data === undefined ? (
        plan.isPending ? (
          <p className="pm-muted" aria-busy="true">
            Counting the invoices that wait…
          </p>
        ) : (
          <LoadError what="waiting invoices" error={plan.error} onRetry={() => void plan.refetch()} />
        )
      ) : (
        <>
          <p>
            {invoices(plan.data.waiting)} on {NETWORKS[network].name} {plan.data.waiting === 1 ? 'is' : 'are'} past the
            deadline and {plan.data.waiting === 1 ? 'waits' : 'wait'}. Blocks are read up to{' '}
            <Time at={plan.data.passedUntil} />.
          </p>
          {released === null ? null : (
            <p className="pm-muted">
              Released through <Time at={released.through} detail /> by {released.by.replace(/^user:/, '')}.
            </p>
          )}
          <DeedButton
            deed={deed}
            input={{ through: plan.data.through }}
            reason="required"
            color="red"
            variant="default"
            confirm={
              <Meaning waiting={plan.data.waiting} through={plan.data.through} network={NETWORKS[network].name} />
            }
          >
            Release deadlines
          </DeedButton>
        </>
      )}
    </section>
  )
}

function Meaning(props: { readonly waiting: number; readonly through: number; readonly network: string }) {
  const { waiting, through, network } = props
  return (
    <>
      <p>
        <b>{invoices(waiting)}</b> with a deadline up to <Time at={through} detail /> will expire, and merchants are
        told so.
      </p>
      <p>
        Blocks of {network} from before then are not read, so some of these invoices may be paid. A payment that is
        found later is judged by its own time: one that came in time still settles its invoice. Later deadlines go on
        waiting.
      </p>
    </>
  )
}

const invoices = (count: number): string => (count === 1 ? '1 open invoice' : `${showCount(count)} open invoices`)
