import { Button } from '@mantine/core'
import { IconClock, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { NETWORKS } from '#shared/domain/networks.ts'
import { api, trpc } from '../../api/trpc.ts'
import { showDuration } from '../../format/time.ts'
import { DeedButton } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { Card, Note } from '../../parts/card.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { LoadError } from '../../parts/load-error.tsx'
import { Page } from '../../parts/page.tsx'
import { RowsSkeleton } from '../../parts/page-skeleton.tsx'
import { ToneBadge } from '../../parts/status-badge.tsx'
import { Span, Time } from '../../parts/time.tsx'
import { useMay, useScope, useTo } from '../../session/scope.ts'
import '../webhooks/webhooks.css'
import { KeyUse } from './key-use.tsx'
import { WalletMeter } from './wallet-meter.tsx'
import { WalletProof } from './wallet-proof.tsx'
import { FAMILY_WORDS, KIND_WORDS, SCRIPT_WORDS } from './words.ts'

type Wallet = Awaited<ReturnType<typeof api.wallets.list.query>>['items'][number]

/** Can I receive, and find the money again? */
export function WalletsPage() {
  const scope = useScope()
  const to = useTo()
  const may = useMay('admin')
  const list = useQuery(trpc.wallets.list.queryOptions(scope))
  const items = list.data?.items
  return (
    <Page
      title="Wallets"
      beside={<span className="pm-muted">Public keys and addresses only. Paymesh can watch, never spend.</span>}
      actions={
        may ? (
          <Button component={Link} to={to('wallets/add')} leftSection={<IconPlus size={16} aria-hidden />}>
            Add a wallet
          </Button>
        ) : undefined
      }
    >
      {items === undefined ? (
        list.isPending ? (
          <RowsSkeleton rows={3} height={120} />
        ) : (
          <LoadError what="wallets" error={list.error} onRetry={() => void list.refetch()} />
        )
      ) : items.length === 0 ? (
        <Card>
          <EmptyState
            title={
              scope.mode === 'live'
                ? 'Add a public key to receive live payments. Test mode works without.'
                : 'Test mode works without a wallet: it has a built-in one.'
            }
            text={
              scope.mode === 'live'
                ? 'You paste a key that can only watch, and compare its first addresses with your own wallet.'
                : 'Add a key here to try what payers will see with addresses of your own.'
            }
          >
            {may ? (
              <Button component={Link} to={to('wallets/add')}>
                Add a wallet
              </Button>
            ) : null}
          </EmptyState>
        </Card>
      ) : (
        <div className="pm-grid">
          {items.map((wallet) => (
            <WalletCard key={wallet.id} wallet={wallet} />
          ))}
        </div>
      )}
      {list.data !== undefined && list.data.delayMs > 0 ? (
        <p className="pm-dim pm-gap-top">
          A further live wallet starts {showDuration(list.data.delayMs)} after it was added. All owners are told by
          e-mail and can cancel it until then.
        </p>
      ) : null}
    </Page>
  )
}

function WalletCard({ wallet }: { readonly wallet: Wallet }) {
  const { family, kind, networks, startsAt, disabledAt, supersededOn, createdAt, key } = wallet
  const type = key === null || key.scriptType === null ? '' : `, ${SCRIPT_WORDS[key.scriptType]}`
  const names = networks.map((network) => NETWORKS[network].name).join(', ')
  return (
    <Card title={FAMILY_WORDS[family]} beside={<WalletBadge wallet={wallet} />}>
      <div className="pm-stack">
        <p className="pm-muted">
          {KIND_WORDS[kind]}
          {type} · {names}
        </p>
        <KeyUse standing={key} />
        <WalletMeter wallet={wallet} />
        <WalletProof wallet={wallet} />
        {startsAt === null ? null : (
          <Note tone="pending">
            <p>
              Starts in <Span at={startsAt} stepMs={10_000} />. All owners were told by e-mail. It is watched already.
            </p>
          </Note>
        )}
        {supersededOn.length === 0 || disabledAt !== null ? null : (
          <p className="pm-muted">
            A newer wallet receives on {supersededOn.map((network) => NETWORKS[network].name).join(', ')}. What was
            issued here stays watched.
          </p>
        )}
        <p className="pm-dim pm-small">
          Added <Time at={createdAt} />
          {disabledAt === null ? null : (
            <>
              , disabled <Time at={disabledAt} />
            </>
          )}
        </p>
        <Switch wallet={wallet} />
      </div>
    </Card>
  )
}

function WalletBadge({ wallet: { disabledAt, startsAt } }: { readonly wallet: Wallet }) {
  if (disabledAt !== null) return <ToneBadge tone="cancelled">Disabled</ToneBadge>
  if (startsAt === null) return <ToneBadge tone="paid">Active</ToneBadge>
  return (
    <ToneBadge tone="pending" icon={IconClock}>
      Starts <Time at={startsAt} />
    </ToneBadge>
  )
}

function Switch({ wallet }: { readonly wallet: Wallet }) {
  const scope = useScope()
  const may = useMay('admin')
  const disabled = wallet.disabledAt !== null
  const waits = wallet.startsAt !== null
  const deed = useDeed({
    call: (ids, input: { readonly walletId: string }) =>
      disabled
        ? api.wallets.enable.mutate({ ...scope, ...ids, ...input })
        : api.wallets.disable.mutate({ ...scope, ...ids, ...input }),
    done: ({ wallet: { disabledAt }, startsAt }) =>
      disabledAt !== null
        ? 'Disabled. Everything issued stays watched.'
        : startsAt === null
          ? 'Enabled.'
          : 'Enabled. It starts after the delay; all owners are told.',
    refresh: [trpc.wallets.pathFilter()],
  })
  return (
    <div className="pm-row">
      <DeedButton
        deed={deed}
        input={{ walletId: wallet.id }}
        variant="default"
        size="xs"
        refusal={
          !may
            ? 'Needs the role Admin.'
            : disabled && wallet.proof?.isDisplaced === true
              ? 'Prove that you control it first.'
              : null
        }
        reason={disabled ? 'optional' : 'required'}
        confirm={
          disabled ? (
            <p>
              New invoices may be sent to it again. In live mode all owners are told, and it starts after the delay.
            </p>
          ) : waits ? (
            <p>It never starts. Nothing was received on it yet, and its addresses stay watched.</p>
          ) : (
            <p>
              No new invoice uses it, within seconds. Invoices that show one of its addresses stay payable and are
              credited as before.
            </p>
          )
        }
      >
        {disabled ? 'Enable' : waits ? 'Cancel this wallet' : 'Disable'}
      </DeedButton>
    </div>
  )
}
