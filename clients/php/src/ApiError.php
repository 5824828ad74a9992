<?php

declare(strict_types=1);

namespace Paymesh;

/** The API refused a call. Branch on `apiCode`; a later server may have more codes. Thrown after the client's own retries. */
final class ApiError extends \RuntimeException
{
    /** @param list<array{path: string, message: string}> $details The invalid fields of a `VALIDATION_ERROR`. */
    public function __construct(
        public readonly string $apiCode,
        string $message,
        public readonly int $status,
        public readonly array $details,
        public readonly string $requestId,
        string $operation,
        /** It repeats the first answer of the idempotency key, of up to 24 hours ago; under another key it may be another one. */
        public readonly bool $isReplayed = false,
    ) {
        $fields = implode('', array_map(fn (array $each): string => " {$each['path']}: {$each['message']}.", $details));
        parent::__construct("$apiCode: $message$fields ($operation, $requestId)");
    }

    public function isRetryable(): bool
    {
        return $this->status === 429 || $this->status >= 500 || $this->apiCode === 'IDEMPOTENCY_IN_PROGRESS';
    }
}
