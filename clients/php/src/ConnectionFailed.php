<?php

declare(strict_types=1);

namespace Paymesh;

/** No answer of the API was read. Whether the call took effect is unknown: repeat a POST with the same key to find out. */
final class ConnectionFailed extends \RuntimeException
{
    public function __construct(
        string $message,
        public readonly ?int $status,
        public readonly ?string $idempotencyKey,
    ) {
        parent::__construct($message);
    }

    public function isRetryable(): bool
    {
        return $this->status === null || $this->status === 429 || $this->status >= 500;
    }
}
