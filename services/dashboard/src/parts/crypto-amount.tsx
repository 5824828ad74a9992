/** An exact amount of a coin, as displayed, copied and sent: never grouped, never rounded. `0.00159915 BTC` */
export function CryptoAmount(props: {
  readonly amount: string
  readonly symbol: string
  /** Replaced, dropped and orphaned payments do not count. */
  readonly struck?: boolean
}) {
  const Tag = props.struck === true ? 's' : 'span'
  return (
    <Tag className="pm-num pm-nowrap" translate="no">
      {props.amount} {props.symbol}
    </Tag>
  )
}
