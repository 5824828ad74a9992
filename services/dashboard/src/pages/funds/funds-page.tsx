import { Button } from '@mantine/core'
import { IconAlertTriangle, IconDownload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from 'react-router'
import { fundsCsv } from '#shared/contracts/funds-csv.ts'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import { fundsTotals } from '#shared/domain/funds/funds-line.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import { trpc } from '../../api/trpc.ts'
import { NotFound } from '../../frame/not-found.tsx'
import { Card, Note } from '../../parts/card.tsx'
import { CryptoAmount } from '../../parts/crypto-amount.tsx'
import { OWN_LOAD_WORDS } from '../../parts/own-load-words.ts'
import { Page } from '../../parts/page.tsx'
import { QueryView } from '../../parts/query-view.tsx'
import { save } from '../../parts/save-file.ts'
import { useMay, useScope, useTo } from '../../session/scope.ts'
import { LANGUAGE } from '../../words/language.ts'
import { FundsTable } from './funds-table.tsx'
import { fundsTitle } from './funds-title.ts'
import { words } from './funds-words.ts'
import type { FundsProgress } from './read-funds.ts'
import { useFunds } from './use-funds.ts'

/** The balances of a wallet's used addresses and what moving them costs, read on request. */
export function FundsPage() {
  const { id = '' } = useParams()
  const scope = useScope()
  const to = useTo()
  const may = useMay('admin')
  const list = useQuery(trpc.wallets.list.queryOptions(scope))
  const wallet = list.data?.items.find((one) => one.id === id)
  if (list.data !== undefined && wallet === undefined) return <NotFound />
  return (
    <div lang={LANGUAGE}>
      <Page
        title={fundsTitle}
        beside={<span className="pm-muted">{words.watchOnly}</span>}
        actions={
          <Button component={Link} to={to('wallets')} variant="default">
            {words.allWallets}
          </Button>
        }
      >
        {!may ? (
          <Note tone="new">{words.needsAdmin}</Note>
        ) : (
          <QueryView query={list} what={words.wallets} words={OWN_LOAD_WORDS}>
            {() => (wallet === undefined ? null : <Funds walletId={wallet.id} networks={wallet.networks} />)}
          </QueryView>
        )}
      </Page>
    </div>
  )
}

const nameOf = (network: NetworkId): string => NETWORKS[network].name

function Funds({ walletId, networks }: { readonly walletId: string; readonly networks: readonly NetworkId[] }) {
  const { mode } = useScope()
  const { progress, read, stop } = useFunds(walletId, networks)
  const isReading = progress !== null && progress.reading !== null
  const isDone = progress !== null && progress.reading === null
  const download = () => {
    const prefix = mode === 'test' ? 'test_' : ''
    save(
      new Blob([fundsCsv(progress?.lines ?? [])], { type: 'text/csv' }),
      `${prefix}funds-${walletId.slice(0, 8)}${progress?.isWhole === true ? '' : '-partial'}.csv`,
    )
  }
  return (
    <div className="pm-stack">
      <Card>
        <div className="pm-stack">
          <p>{words.explain}</p>
          <div className="pm-row">
            {isReading ? (
              <Button variant="default" onClick={stop}>
                {words.stop}
              </Button>
            ) : (
              <Button onClick={() => void read()}>{progress === null ? words.read : words.readAgain}</Button>
            )}
            <Button
              variant="default"
              leftSection={<IconDownload size={16} aria-hidden />}
              disabled={!isDone}
              onClick={download}
            >
              {words.csv}
            </Button>
          </div>
          <p role="status" className="pm-muted">
            {progress === null
              ? ''
              : progress.reading === null
                ? words.done(progress.addresses)
                : words.progress(nameOf(progress.reading.network), progress.reading.addresses)}
          </p>
        </div>
      </Card>
      {progress === null ? null : <Found progress={progress} />}
    </div>
  )
}

function Found({ progress: { lines, faults, cut, error, reading, isWhole } }: { readonly progress: FundsProgress }) {
  const totals = fundsTotals(lines)
  const icon = <IconAlertTriangle size={18} aria-hidden />
  return (
    <>
      {error === null ? null : (
        <Note tone="danger" icon={icon}>
          <p>{words.failed}</p>
        </Note>
      )}
      {isWhole || reading !== null ? null : (
        <Note tone="partial" icon={icon}>
          <p>{words.partial}</p>
        </Note>
      )}
      {faults.map(([network, fault]) => (
        <Note key={`${network} ${fault}`} tone="partial" icon={icon}>
          <p>
            <b>{nameOf(network)}:</b> {words.faults[fault]}
          </p>
        </Note>
      ))}
      {cut.map(([network, addresses]) => (
        <Note key={network} tone="new">
          <p>{words.cut(nameOf(network), addresses)}</p>
        </Note>
      ))}
      {totals.length === 0 ? null : (
        <Card title={words.totals}>
          <ul className="pm-plain">
            {totals.map(({ network, asset, symbol, balance, unknown, addresses }) => (
              <li key={asset}>
                {nameOf(network)}: {isWhole && unknown === 0 ? null : `${words.atLeast} `}
                <b>
                  <CryptoAmount amount={balance} symbol={symbol} />
                </b>{' '}
                {words.onAddresses(addresses)}
                {unknown === 0 ? null : `; ${words.missing(unknown)}`}
              </li>
            ))}
          </ul>
        </Card>
      )}
      <FundsTable lines={lines} isEmpty={isWhole} />
    </>
  )
}
