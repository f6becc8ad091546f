//! The list of all behaviours, with the kernel's part in `kernel_suite`. A behaviour that is not listed is not run,
//! which a test of this crate finds.

/// Makes one test per behaviour for a store. `$make` is an async function without arguments that answers a
/// [`Harness`](crate::conformance::Harness) over a fresh, empty store.
///
/// ```text
/// async fn make() -> kybern_testkit::conformance::Harness { … }
/// kybern_testkit::conformance_suite!(make);
/// ```
///
/// The crate that calls it needs `tokio` with `macros` and `rt-multi-thread`.
#[macro_export]
macro_rules! conformance_suite {
    ($make:ident) => {
        $crate::kernel_suite!($make);

        /// What the in-memory store keeps nothing of.
        mod beyond_the_kernel {
            use super::$make;

            $crate::conformance_tests! { $make
                agents {
                    an_agent_is_read_back_as_it_was_written,
                    a_version_follows_the_one_that_is_stored,
                    the_first_version_of_a_bundled_agent_follows_the_programs,
                    when_an_agent_was_made_stays_as_it_was_stored_first,
                    of_twenty_who_write_the_same_version_of_an_agent_one_does,
                    a_prompt_is_begun_with_the_change_of_an_agent,
                    agents_are_forgotten_together_or_not_at_all,
                    what_a_tenant_says_about_agents_is_nothing_to_another,
                }
                chat_lists {
                    turns_are_listed_for_their_user,
                    what_a_turn_asks_and_sends_is_listed_for_its_user,
                    chats_are_listed_by_user_cleared_and_deleted,
                    another_tenant_sees_and_changes_nothing_of_it,
                }
                chats {
                    a_message_is_stored_with_its_task_and_the_answer_with_its_end,
                    a_turn_that_failed_is_taken_again_in_its_place_as_long_as_nothing_else_was_said,
                    a_fork_of_a_turn_is_no_turn_and_its_retry_leaves_the_conversation_alone,
                    a_chat_is_cleared_and_deleted_although_a_turn_ended_without_an_answer,
                    files_are_kept_with_their_message_until_it_is_taken_back,
                    a_chat_takes_one_turn_at_a_time_in_order,
                    only_so_many_turns_wait,
                    a_turn_that_was_cancelled_while_it_waited_lets_the_next_one_begin,
                    of_two_messages_the_one_that_was_stored_first_is_answered_first,
                    the_last_messages_before_one_are_what_was_said,
                    what_is_taken_back_is_gone_and_was_there,
                    a_fork_has_what_was_said_until_then,
                    a_conversation_of_a_task_on_hold_is_kept_whole,
                }
                knowledge {
                    a_document_comes_with_its_job_and_is_found_when_it_is_published,
                    what_is_indexed_anew_is_found_as_it_was_until_it_is_done,
                    a_document_is_changed_as_it_was_read_and_removed_with_its_pieces,
                    pages_of_documents_visit_each_once_newest_first,
                    another_tenant_neither_sees_nor_changes_a_document,
                }
                lessons {
                    a_lesson_is_suggested_accepted_and_withdrawn_and_every_step_is_audited,
                    the_same_is_not_learned_twice,
                    a_decision_on_what_was_decided_meanwhile_is_a_conflict,
                    a_tenant_has_so_many_lessons,
                    the_oldest_that_nobody_wanted_makes_room_although_none_was_ever_accepted,
                    a_withdrawn_lesson_makes_room_once_no_task_goes_on_with_it,
                    pages_of_lessons_visit_each_once_newest_first,
                    another_tenant_neither_sees_nor_uses_nor_decides_about_a_lesson,
                }
                memories {
                    a_memory_is_read_back_as_it_was_said,
                    a_memory_is_of_somebody_or_something_that_is_there,
                    a_memory_is_changed_as_it_was_read,
                    what_is_accepted_of_a_record_is_found_by_its_key_and_its_identifiers,
                    of_ten_who_judge_at_once_one_does,
                    pages_of_memories_visit_each_once_newest_first,
                    a_subject_has_so_many_memories_and_what_was_rejected_is_none_of_them,
                    another_tenant_neither_sees_nor_changes_a_memory,
                }
                model_policies {
                    a_policy_is_each_tenants_own_audited_and_taken_back,
                    a_policy_that_cannot_be_read_allows_nobody_until_it_is_said_anew,
                }
                nouns {
                    a_memory_is_written_changed_and_removed_by_commits,
                    a_memory_of_nobody_or_of_somebody_with_too_many_refuses_the_commit,
                    a_commit_that_is_written_again_remembers_once,
                    nouns_of_another_tenant_are_nothing_to_a_commit,
                }
                own_tools {
                    an_own_tool_goes_its_way_and_every_step_is_audited,
                    versions_count_up_for_each_tool,
                    an_act_on_a_version_that_was_changed_meanwhile_is_a_conflict,
                    one_version_of_a_tool_is_active,
                    the_active_tools_are_the_same_list_while_nothing_changes,
                    pages_of_own_tools_visit_each_once_newest_first,
                    a_deleted_tool_is_gone_with_every_version,
                    another_tenant_neither_sees_nor_changes_an_own_tool,
                    a_tool_has_so_many_versions,
                    a_tenant_has_so_many_tools_active_and_so_many_bytes_of_them,
                    an_own_tool_that_cannot_be_read_harms_no_other,
                }
                preferences {
                    preferences_are_said_changed_and_taken_back,
                    preferences_are_one_users_own,
                }
                prompts {
                    a_prompt_goes_its_way_and_every_step_is_audited,
                    versions_count_up_for_each_agent,
                    an_act_on_what_was_changed_meanwhile_is_a_conflict,
                    one_prompt_of_an_agent_is_active,
                    of_ten_that_are_activated_at_once_one_is,
                    pages_of_prompts_visit_each_once_newest_first,
                    another_tenant_neither_sees_nor_changes_a_prompt,
                }
                retention {
                    a_dry_run_counts_and_removes_nothing,
                }
                retention_tasks {
                    a_conversation_keeps_its_turns_and_goes_before_them,
                    a_conversation_with_an_open_turn_or_a_hold_stays,
                }
                secrets {
                    a_secret_comes_back_sealed_as_it_was_written,
                    writing_again_is_the_next_version,
                    of_twenty_who_write_the_same_version_one_does,
                    a_tenant_has_one_data_key_as_long_as_it_has_secrets,
                    another_tenant_neither_sees_nor_removes_a_secret,
                    a_tenant_has_no_more_secrets_than_it_may,
                }
                unreadable {
                    a_lesson_that_cannot_be_read_is_named_and_holds_up_no_decision,
                }
            }
        }
    };
}

/// One module per noun, one test per behaviour.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_tests {
    ($make:ident $($noun:ident { $($behaviour:ident,)* })*) => {
        $(
            mod $noun {
                $(
                    #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
                    async fn $behaviour() {
                        $crate::conformance::$noun::$behaviour(super::$make().await).await;
                    }
                )*
            }
        )*
    };
}
