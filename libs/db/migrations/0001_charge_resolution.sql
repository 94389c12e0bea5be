ALTER TABLE "charge_operations" ADD COLUMN "purpose" text NOT NULL;--> statement-breakpoint
ALTER TABLE "charge_operations" ADD COLUMN "processor_operation_id" text;--> statement-breakpoint
ALTER TABLE "charges" ADD COLUMN "sending_closed_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "charges" ADD COLUMN "absent_at" timestamp (3) with time zone;