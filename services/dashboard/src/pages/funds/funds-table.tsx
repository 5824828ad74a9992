import { type FundsLine, mayHold } from '#shared/domain/funds/funds-line.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import { Card } from '../../parts/card.tsx'
import { CopyText } from '../../parts/copy-text.tsx'
import { CryptoAmount } from '../../parts/crypto-amount.tsx'
import { Money } from '../../parts/money.tsx'
import { ScrollBox } from '../../parts/scroll-box.tsx'
import { words } from './funds-words.ts'

/** One row for each asset at each address that holds something, or of which nobody knows. `isEmpty`: without rows, nothing is held. */
export function FundsTable({ lines, isEmpty }: { readonly lines: readonly FundsLine[]; readonly isEmpty: boolean }) {
  const rows = lines.filter(mayHold)
  if (rows.length === 0) return isEmpty ? <p className="pm-muted">{words.empty}</p> : null
  return (
    <Card title={words.addresses} flush>
      <ScrollBox label={words.addresses}>
        <table className="pm-table pm-num" aria-label={words.addresses}>
          <thead>
            <tr>
              <th scope="col">{words.address}</th>
              <th scope="col">{words.network}</th>
              <th scope="col" className="pm-wide">
                {words.path}
              </th>
              <th scope="col" className="pm-right">
                {words.balance}
              </th>
              <th scope="col" className="pm-right">
                {words.cost}
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((line) => (
              <Row key={`${line.address} ${line.asset}`} line={line} />
            ))}
          </tbody>
        </table>
      </ScrollBox>
      <p className="pm-card-body pm-dim pm-small">{words.estimate}</p>
    </Card>
  )
}

function Row({ line }: { readonly line: FundsLine }) {
  const { address, network, path, balance, balanceFiat, currency, symbol, fee, feeSymbol, feeFiat, topUp } = line
  const needsCoins = !/^0(\.0*)?$/.test(topUp)
  return (
    <tr>
      <td data-label={words.address}>
        <CopyText text={address} what={`${words.address} ${address.slice(0, 8)}`} short />
      </td>
      <td data-label={words.network}>{NETWORKS[network].name}</td>
      <td data-label={words.path} className="pm-wide pm-mono">
        {path ?? '–'}
      </td>
      <td data-label={words.balance} className="pm-right">
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
      </td>
      <td data-label={words.cost} className="pm-right">
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
      </td>
    </tr>
  )
}
