import { Button } from '@mantine/core'
import { IconClock, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { NETWORKS } from '#shared/domain/networks.ts'
import { api, trpc } from '../../api/trpc.ts'
import { showDuration } from '../../format/time.ts'
import { ActionButton } from '../../parts/action/action-button.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { Card, Note } from '../../parts/card.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Page } from '../../parts/page.tsx'
import { RowsSkeleton } from '../../parts/page-skeleton.tsx'
import { QueryView } from '../../parts/query-view.tsx'
import { ToneBadge } from '../../parts/status-badge.tsx'
import { Time, Until } from '../../parts/time.tsx'
import { useMay, useRefusal, useScope, useTo } from '../../session/scope.ts'
import { LANGUAGE } from '../../words/language.ts'
import { fundsTitle } from '../funds/funds-title.ts'
import '../webhooks/webhooks.css'
import { KeyUse } from './key-use.tsx'
import { FAMILY_LABELS, KIND_LABELS, SCRIPT_LABELS } from './labels.ts'
import { WalletMeter } from './wallet-meter.tsx'
import { walletNames } from './wallet-names.ts'
import { WalletProof } from './wallet-proof.tsx'

type Wallet = Awaited<ReturnType<typeof api.wallets.list.query>>['items'][number]

/** The workspace's wallets. */
export function WalletsPage() {
  const scope = useScope()
  const to = useTo()
  const may = useMay('admin', 'restricted')
  const list = useQuery(trpc.wallets.list.queryOptions(scope))
  const names = walletNames(list.data?.items ?? [])
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
      <QueryView query={list} what="wallets" skeleton={<RowsSkeleton rows={3} height={120} />}>
        {({ items, delayMs }) => (
          <>
            {items.length === 0 ? (
              <Card>
                <EmptyState
                  title={
                    scope.mode === 'live'
                      ? 'Add a public key to receive live payments.'
                      : 'Test mode has a built-in wallet.'
                  }
                  text={
                    scope.mode === 'live'
                      ? 'Paste a watch-only public key, then check its first addresses against your wallet.'
                      : 'Add a key here to try the checkout with your own addresses.'
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
                  <WalletCard key={wallet.id} wallet={wallet} name={names.get(wallet.id) ?? ''} />
                ))}
              </div>
            )}
            {delayMs > 0 ? (
              <p className="pm-dim pm-gap-top">
                New live wallets become active {showDuration(delayMs)} after you add them. We email all owners; they can
                cancel until then.
              </p>
            ) : null}
          </>
        )}
      </QueryView>
    </Page>
  )
}

function WalletCard({ wallet, name }: { readonly wallet: Wallet; readonly name: string }) {
  const { family, kind, networks, startsAt, disabledAt, supersededOn, createdAt, key } = wallet
  const type = key === null || key.scriptType === null ? '' : `, ${SCRIPT_LABELS[key.scriptType]}`
  const names = networks.map((network) => NETWORKS[network].name).join(', ')
  return (
    <Card title={FAMILY_LABELS[family]} label={name} beside={<WalletBadge wallet={wallet} />}>
      <div className="pm-stack">
        <p className="pm-muted">
          {KIND_LABELS[kind]}
          {type} · {names}
        </p>
        <KeyUse standing={key} />
        <WalletMeter wallet={wallet} />
        <WalletProof wallet={wallet} />
        {startsAt === null ? null : (
          <Note tone="pending">
            <p>
              <Until at={startsAt} past="Starts now">
                {(left) => <>Starts in {left}</>}
              </Until>
              . We emailed all owners. Its addresses are already monitored.
            </p>
          </Note>
        )}
        {supersededOn.length === 0 || disabledAt !== null ? null : (
          <p className="pm-muted">
            A newer wallet receives on {supersededOn.map((network) => NETWORKS[network].name).join(', ')}. The addresses
            of this wallet are still monitored.
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
        <FundsLink walletId={wallet.id} name={name} />
        <Switch wallet={wallet} />
      </div>
    </Card>
  )
}

function FundsLink({ walletId, name }: { readonly walletId: string; readonly name: string }) {
  const to = useTo()
  if (!useMay('admin')) return null
  return (
    <p>
      <Link to={to(`wallets/${walletId}/funds`)} aria-label={`${fundsTitle}: ${name}`} lang={LANGUAGE}>
        {fundsTitle}
      </Link>
    </p>
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
  const disabled = wallet.disabledAt !== null
  const refusal = useRefusal('admin', disabled ? 'restricted' : 'suspended')
  const waits = wallet.startsAt !== null
  const action = useAction({
    call: (ids, input: { readonly walletId: string }) =>
      disabled
        ? api.wallets.enable.mutate({ ...scope, ...ids, ...input })
        : api.wallets.disable.mutate({ ...scope, ...ids, ...input }),
    done: ({ wallet: { disabledAt }, startsAt }) =>
      disabledAt !== null
        ? 'Wallet disabled. Its addresses are still monitored.'
        : startsAt === null
          ? 'Wallet enabled.'
          : 'Wallet enabled. It becomes active after the delay. We emailed all owners.',
    refresh: [trpc.wallets.pathFilter()],
  })
  return (
    <div className="pm-row">
      <ActionButton
        action={action}
        input={{ walletId: wallet.id }}
        variant="default"
        size="xs"
        refusal={
          refusal ??
          (disabled && wallet.proof?.isDisplaced === true ? 'Prove that you control this wallet first.' : null)
        }
        reason={disabled ? 'optional' : 'required'}
        confirm={
          disabled ? (
            <p>
              New invoices can use this wallet again. In live mode it becomes active after a delay, and we email all
              owners.
            </p>
          ) : waits ? (
            <p>The wallet will not become active. Its addresses are still monitored.</p>
          ) : (
            <p>New invoices stop using this wallet within seconds. Open invoices can still be paid.</p>
          )
        }
      >
        {disabled ? 'Enable' : waits ? 'Cancel wallet' : 'Disable'}
      </ActionButton>
    </div>
  )
}
