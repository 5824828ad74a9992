import { type FundsLine, mayHold } from '#shared/domain/funds/funds-line.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import { Card } from '../../parts/card.tsx'
import { CopyText } from '../../parts/copy-text.tsx'
import { CryptoAmount } from '../../parts/crypto-amount.tsx'
import { Money } from '../../parts/money.tsx'
import { CardTable } from '../../parts/table/card-table.tsx'
import type { Column } from '../../parts/table/column.ts'
import { words } from './funds-words.ts'

/** One row for each asset at each address that holds something, or may hold something. `isEmpty`: without rows, nothing is held. */
export function FundsTable({ lines, isEmpty }: { readonly lines: readonly FundsLine[]; readonly isEmpty: boolean }) {
  const rows = lines.filter(mayHold)
  if (rows.length === 0) return isEmpty ? <p className="pm-muted">{words.empty}</p> : null
  return (
    <Card title={words.addresses} flush>
      <CardTable
        label={words.addresses}
        columns={COLUMNS}
        rows={rows}
        keyOf={({ address, asset }) => `${address} ${asset}`}
      />
      <p className="pm-card-body pm-dim pm-small">{words.estimate}</p>
    </Card>
  )
}

const COLUMNS: readonly Column<FundsLine>[] = [
  {
    header: words.address,
    namesItself: true,
    cell: ({ address }) => <CopyText text={address} what={`${words.address} ${address.slice(0, 8)}`} short />,
  },
  { header: words.network, namesItself: true, cell: ({ network }) => NETWORKS[network].name },
  { header: words.path, wide: true, cell: ({ path }) => <span className="pm-mono">{path ?? '–'}</span> },
  { header: words.balance, align: 'right', cell: (line) => <Balance line={line} /> },
  { header: words.cost, align: 'right', cell: (line) => <Cost line={line} /> },
]

function Balance({ line: { balance, balanceFiat, currency, symbol } }: { readonly line: FundsLine }) {
  return (
    <>
      {balance === null ? (
        <b className="pm-warn">{words.unknown}</b>
      ) : (
        <CryptoAmount amount={balance} symbol={symbol} />
      )}
      {balanceFiat === null ? null : (
        <div className="pm-small">
          <Money value={balanceFiat} currency={currency} />
        </div>
      )}
    </>
  )
}

function Cost({ line: { fee, feeSymbol, feeFiat, currency, topUp } }: { readonly line: FundsLine }) {
  const needsCoins = !/^0(\.0*)?$/.test(topUp)
  return (
    <>
      {fee === null ? (
        <span className="pm-muted">{words.unknown}</span>
      ) : (
        <CryptoAmount amount={fee} symbol={feeSymbol} />
      )}
      {feeFiat === null ? null : (
        <div className="pm-small">
          <Money value={feeFiat} currency={currency} />
        </div>
      )}
      {needsCoins ? <div className="pm-dim pm-small">{words.topUp(`${topUp} ${feeSymbol}`)}</div> : null}
    </>
  )
}
