import type { ReactNode } from 'react'

/** Shown on an empty page: one helpful sentence, and the next step as `children`. */
export function EmptyState(props: {
  readonly title: string
  readonly text?: ReactNode
  readonly children?: ReactNode
}) {
  return (
    <div className="pm-empty">
      <p className="pm-empty-title">{props.title}</p>
      {props.text === undefined ? null : <div className="pm-muted">{props.text}</div>}
      {props.children === undefined ? null : <div className="pm-row pm-center">{props.children}</div>}
    </div>
  )
}
